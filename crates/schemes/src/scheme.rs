//! A scheme: four parts with their parameters, read from checked settings.

use flowsched_units::{SettingError, Settings};

use crate::port::PortSettings;
use crate::tagger::Tagger;
use crate::tagger::mlfq::Mlfq;
use crate::transport::tcp::congestion::Algorithm;
use crate::transport::tcp::settings::TcpSettings;

/// A scheme, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// What tables and charts call it.
    pub name: String,
    /// The priority that a packet carries.
    pub tagger: Tagger,
    /// When and how fast to send.
    pub transport: TransportChoice,
    /// What goes next, is marked, is dropped.
    pub port: PortSettings,
    /// Whether routing is that of the PIAS authors' simulator (spraying), whatever the
    /// topology says.
    pub ns2_routing: bool,
}

/// The transport of a scheme, to be made for a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TransportChoice {
    /// One of the TCPs, for [`Tcp::new`](crate::transport::tcp::Tcp::new).
    Tcp(TcpSettings, Algorithm),
}

impl Scheme {
    /// Reads settings that are complete and checked against
    /// [`Combination::parameters`](crate::preset::Combination::parameters).
    ///
    /// # Errors
    /// If the values are right one by one but do not fit each other.
    pub fn from_settings(settings: &Settings) -> Result<Scheme, SettingError> {
        let port = PortSettings::from_settings(settings);
        let tagger = match settings.text("tagger").as_str() {
            "mlfq" => Tagger::Mlfq(Mlfq::from_settings(settings, port.queues)?),
            _ => Tagger::None,
        };
        let transport = settings.text("transport");
        Ok(Scheme {
            name: settings.text("name"),
            tagger,
            transport: TransportChoice::Tcp(
                TcpSettings::from_settings(settings),
                Algorithm::from_settings(&transport, settings),
            ),
            port,
            ns2_routing: settings.text("compat") == "ns2",
        })
    }
}
