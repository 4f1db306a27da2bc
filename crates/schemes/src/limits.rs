//! Refuses values that no run can work with: buffers below one packet, and time-outs near zero.

use flowsched_units::{Bytes, PACKET_WIRE, Parameter, SettingError, Settings, Time, Value};

use crate::port::parameters::{BUFFER, SWITCH_MEMORY};
use crate::transport::tcp::parameters::RTO_MIN;

/// The largest header of a scheme, EPN's. A scheme with a larger one does not compile.
pub(crate) const LARGEST_HEADER: u32 = 50;
/// The least buffer: a full packet with the largest header.
const LEAST_BUFFER: Bytes = Bytes::new(PACKET_WIRE + LARGEST_HEADER as u64);
/// The least time-out. With a shorter one a sender would retransmit without end while almost no
/// simulated time passes.
const LEAST_TIMEOUT: Time = Time::from_us(1);

/// Refuses buffers and switch memories below one packet, and an `rto_min` near zero.
pub(crate) fn check(settings: &Settings) -> Result<(), SettingError> {
    for parameter in [&BUFFER, &SWITCH_MEMORY] {
        if let Some(Value::Size(size)) = settings.get(parameter)
            && *size < LEAST_BUFFER
        {
            let allowed = format!("at least {LEAST_BUFFER}, a full packet with its headers");
            return Err(SettingError::new(parameter, size.to_string(), allowed));
        }
    }
    match settings.get(&RTO_MIN) {
        Some(_) => timeout(settings, &RTO_MIN).map(drop),
        None => Ok(()),
    }
}

/// Reads the time until something is sent again from `parameter`. Refuses a time below
/// `LEAST_TIMEOUT`.
pub(crate) fn timeout(settings: &Settings, parameter: &Parameter) -> Result<Time, SettingError> {
    let time = settings.time(parameter);
    if time < LEAST_TIMEOUT {
        let allowed = format!("at least {LEAST_TIMEOUT}");
        return Err(SettingError::new(parameter, time.to_string(), allowed));
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &'static str, value: Value) -> Option<&'static str> {
        let mut settings = Settings::new();
        settings.set(name, value);
        check(&settings).err().map(|_| name)
    }

    #[test]
    fn packets_fit_and_time_passes() {
        assert_eq!(key("buffer", Value::Size(Bytes::new(1_549))), Some("buffer"));
        assert_eq!(key("buffer", Value::Size(Bytes::new(1_550))), None);
        assert_eq!(key("switch_memory", Value::Size(Bytes::ZERO)), Some("switch_memory"));
        assert_eq!(key("rto_min", Value::Time(Time::from_ns(999))), Some("rto_min"));
        assert_eq!(key("rto_min", Value::Time(Time::from_us(1))), None);
    }
}
