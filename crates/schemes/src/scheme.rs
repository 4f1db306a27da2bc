//! A scheme: four parts with their parameters, read from checked settings.

use flowsched_units::{SettingError, Settings, Value};

use crate::controller::d3::D3Control;
use crate::controller::epn::{Epn, EpnSettings};
use crate::controller::pdq::flow_controller::FlowControl;
use crate::flow_level::{self, DISCIPLINE};
use crate::limits;
use crate::port::{HostPort, PortSettings, Queueing};
use crate::tagger::Tagger;
use crate::tagger::mlfq::Mlfq;
use crate::tagger::priority_mapper::PriorityMapper;
use crate::tagger::size_known::SizeKnown;
use crate::transport::d3::D3Settings;
use crate::transport::pdq::PdqSettings;
use crate::transport::pdq::multipath::MultipathSettings;
use crate::transport::tcp::congestion::Algorithm;
use crate::transport::tcp::settings::TcpSettings;

/// A scheme, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// What tables and charts call it.
    pub name: String,
    /// The priority that a packet carries, where switches do not tell hosts which.
    pub tagger: Tagger,
    /// What switches tell the hosts.
    pub controller: ControllerChoice,
    /// When and how fast to send.
    pub transport: TransportChoice,
    /// What goes next, is marked, is dropped.
    pub port: PortSettings,
    /// How a port orders what waits.
    pub queueing: Queueing,
    /// What differs at hosts' network cards.
    pub host_port: HostPort,
    /// Whether routing is that of the PIAS authors' simulator (spraying), whatever the
    /// topology says.
    pub ns2_routing: bool,
    /// The word that says how flows share links where they are fluids, if one does.
    pub discipline: Option<String>,
}

/// The transport of a scheme, to be made for a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TransportChoice {
    /// One of the TCPs, for [`Tcp::new`](crate::transport::tcp::Tcp::new).
    Tcp(TcpSettings, Algorithm),
    /// PDQ's hosts and switches.
    Pdq(PdqSettings, FlowControl),
    /// M-PDQ's hosts, and PDQ's switches.
    MultipathPdq(MultipathSettings, FlowControl),
    /// D3's hosts, or RCP's, and D3's switches.
    D3(D3Settings, D3Control),
}

impl TransportChoice {
    /// Hosts that are told their rates need switches that tell them: the transport and the
    /// controller go together, over queues that are served in order.
    fn from_settings(
        settings: &Settings,
        queueing: Queueing,
    ) -> Result<TransportChoice, SettingError> {
        let (transport, controller) = (settings.text("transport"), settings.text("controller"));
        let (needed, allowed): (&[&str], &str) = match transport.as_str() {
            "pdq" | "m-pdq" => (&["pdq"], "\"pdq\""),
            "d3" | "rcp" => (&["d3"], "\"d3\""),
            _ => (&["none", "epn"], "\"none\" or \"epn\""),
        };
        if !needed.contains(&controller.as_str()) {
            let found = format!("\"{controller}\" with transport = \"{transport}\"");
            return Err(SettingError::new("controller", found, allowed));
        }
        if ["pdq", "d3"].contains(&controller.as_str()) && queueing != Queueing::StrictPriority {
            let allowed = "fifo or strict-priority, where the transport is told its rate";
            return Err(SettingError::new("port", settings.text("port"), allowed));
        }
        Ok(match transport.as_str() {
            "pdq" => TransportChoice::Pdq(
                PdqSettings::from_settings(settings),
                FlowControl::from_settings(settings),
            ),
            "m-pdq" => TransportChoice::MultipathPdq(
                MultipathSettings::from_settings(settings),
                FlowControl::from_settings(settings),
            ),
            "d3" => {
                TransportChoice::D3(D3Settings::d3(settings), D3Control::from_settings(settings))
            }
            "rcp" => {
                TransportChoice::D3(D3Settings::rcp(settings), D3Control::from_settings(settings))
            }
            _ => TransportChoice::Tcp(
                TcpSettings::from_settings(settings),
                Algorithm::from_settings(&transport, settings),
            ),
        })
    }
}

/// What switches and hosts tell each other beside marks and rates, to be made for a network.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerChoice {
    /// Nothing.
    None,
    /// EPN's messages.
    Epn(Epn),
}

impl ControllerChoice {
    /// The controller that the settings name, and what it needs at hosts.
    fn from_settings(
        settings: &Settings,
        queueing: Queueing,
    ) -> Result<ControllerChoice, SettingError> {
        let (tagger, controller) = (settings.text("tagger"), settings.text("controller"));
        if (tagger == "priority-mapper") != (controller == "epn") {
            let allowed = "the tagger priority-mapper and the controller epn, or neither";
            let found = format!("the tagger {tagger} with the controller {controller}");
            return Err(SettingError::new("controller", found, allowed));
        }
        if controller != "epn" {
            return Ok(ControllerChoice::None);
        }
        if !matches!(queueing, Queueing::StrictPriority | Queueing::WeightedRoundRobin(_)) {
            let allowed = "weighted-round-robin or strict-priority, whose queues EPN chooses from";
            return Err(SettingError::new("port", settings.text("port"), allowed));
        }
        Ok(ControllerChoice::Epn(Epn {
            mapper: PriorityMapper::from_settings(settings),
            controller: EpnSettings::from_settings(settings)?,
        }))
    }
}

impl Scheme {
    /// Whether all packets of a flow must pass the same switches, which know the flow.
    pub fn needs_one_path(&self) -> bool {
        !matches!(self.transport, TransportChoice::Tcp(..))
    }

    /// Reads settings that are complete and checked against
    /// [`Combination::parameters`](crate::preset::Combination::parameters).
    ///
    /// # Errors
    /// If the values are right one by one but do not fit each other, or the scheme is a schedule
    /// of flows ([`flow_level::is_schedule`]), which packets cannot keep to.
    pub fn from_settings(settings: &Settings) -> Result<Scheme, SettingError> {
        if flow_level::is_schedule(settings) {
            let found = format!("\"{}\", which sends no packets", flow_level::OMNISCIENT.name);
            return Err(SettingError::new("transport", found, "a transport that does"));
        }
        limits::check(settings)?;
        let port = PortSettings::from_settings(settings);
        let tagger = match settings.text("tagger").as_str() {
            "mlfq" => Tagger::Mlfq(Mlfq::from_settings(settings, port.queues)?),
            "size-known" => Tagger::SizeKnown(SizeKnown::from_settings(settings, port.queues)?),
            "bytes-sent" => Tagger::BytesSent,
            "remaining" => Tagger::Remaining,
            _ => Tagger::None,
        };
        let queueing = Queueing::from_settings(settings, port.queues)?;
        Ok(Scheme {
            name: settings.text("name"),
            tagger,
            controller: ControllerChoice::from_settings(settings, queueing)?,
            transport: TransportChoice::from_settings(settings, queueing)?,
            port,
            queueing,
            host_port: HostPort::from_settings(settings),
            ns2_routing: settings.text("compat") == "ns2",
            discipline: settings.get(DISCIPLINE.name).map(Value::to_string),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Combination;

    /// A preset with other parts, as its defaults make it.
    fn with_parts(preset: &str, parts: [Option<&str>; 4]) -> Result<Scheme, SettingError> {
        Scheme::from_settings(&Combination::new(preset, parts).unwrap().defaults("none"))
    }

    #[test]
    fn epn_needs_both_its_halves_and_a_port_with_queues() {
        let key = |parts| with_parts("epn", parts).unwrap_err().key;
        assert_eq!(key([Some("none"), None, None, None]), "controller");
        assert_eq!(key([None, None, None, Some("none")]), "controller");
        assert_eq!(key([None, None, Some("pfabric"), None]), "port");
        for port in ["weighted-round-robin", "strict-priority", "fifo"] {
            assert!(with_parts("epn", [None, Some("dctcp"), Some(port), None]).is_ok(), "{port}");
        }
        assert!(with_parts("dctcp", [None, None, None, Some("epn")]).is_err());
    }
}
