//! Values with which no run would get on: packets that fit nowhere, time-outs that are over at once.

use flowsched_units::{Bytes, PACKET_WIRE, SettingError, Settings, Time, Value};

/// The least buffer: a full packet with the largest header of any transport, EPN's 50 B.
const LEAST_BUFFER: Bytes = Bytes::new(PACKET_WIRE + 50);
/// The least time until a packet is sent again. Shorter ones pass no time between one try and the
/// next that matters to any network.
const LEAST_TIMEOUT: Time = Time::from_us(1);

/// Refuses such values.
pub(crate) fn check(settings: &Settings) -> Result<(), SettingError> {
    for key in ["buffer", "switch_memory"] {
        if let Some(Value::Size(size)) = settings.get(key)
            && *size < LEAST_BUFFER
        {
            let allowed = format!("at least {LEAST_BUFFER}, a full packet with its headers");
            return Err(SettingError::new(key, size.to_string(), allowed));
        }
    }
    if let Some(Value::Time(time)) = settings.get("rto_min")
        && *time < LEAST_TIMEOUT
    {
        let allowed = format!("at least {LEAST_TIMEOUT}");
        return Err(SettingError::new("rto_min", time.to_string(), allowed));
    }
    Ok(())
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
