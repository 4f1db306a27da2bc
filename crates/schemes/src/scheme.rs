//! A scheme: four parts with their parameters, read from checked settings.

use flowsched_units::{SettingError, Settings};

use crate::catalogue::{self, AnyTransport};
use crate::combination::{COMPAT, NAME};
use crate::controller::Controller;
use crate::discipline::{self, DISCIPLINE};
use crate::flow_level::{FlowLevel, Fluid};
use crate::limits;
use crate::on_linux::{HostTags, KernelControl, LAB_SENDERS, LinuxHosts, RealHosts, UdpHosts};
use crate::packet::Header;
use crate::part::Role;
use crate::port::parameters::SAME_FLOW;
use crate::port::{HostPort, Port, PortSettings};
use crate::tagger::Tagging;
use crate::transport::Transport;
use crate::transport::tcp::parameters::RTO_MIN;
use crate::transport::tcp::settings::TcpSettings;
use crate::world::{Controllers, Parts, Ports, World};

/// A scheme, ready to run.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// What tables and charts call it.
    pub name: String,
    /// Memory, queues and marking of a switch's port.
    pub port: PortSettings,
    /// What differs at hosts' network cards.
    pub host_port: HostPort,
    /// Whether routing is that of the PIAS authors' simulator (spraying), whatever the
    /// topology says.
    pub ns2_routing: bool,
    parts: AnyTransport,
    on_linux: Result<RealHosts, SettingError>,
    fluid: Result<FlowLevel, SettingError>,
}

/// Facts about a scheme's parts that other crates need.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Whether all packets of a flow must pass the same switches, which know the flow.
    pub needs_one_path: bool,
    /// Whether senders wait for applications that hand bytes over at a rate.
    pub waits_for_applications: bool,
    /// Whether flows are spread over the paths that a network has for that.
    pub is_spread: bool,
    /// Whether ports have controllers.
    pub has_controllers: bool,
    /// Whether packets of the kernel's TCP can carry the header.
    pub has_tcp_form: bool,
    /// Whether datagrams can carry the header.
    pub has_codec: bool,
    /// Whether ports order packets by rank.
    pub has_ranks: bool,
}

impl Scheme {
    /// Reads settings that are complete and checked against
    /// [`Combination::parameters`](crate::combination::Combination::parameters).
    ///
    /// # Errors
    /// If the values are right one by one but do not fit each other, or if the scheme is a schedule of
    /// flows, which sends no packets.
    pub fn from_settings(settings: &Settings) -> Result<Scheme, SettingError> {
        if catalogue::schedule(settings).is_some() {
            let transport = Role::Transport.parameter();
            let problem = format!(
                "`transport = \"{}\"` sends no packets. Use another transport, or \
                 `engine = \"fluid\"`.",
                settings.text(transport)
            );
            return Err(SettingError::sentence(transport, problem));
        }
        limits::check(settings)?;
        let parts = AnyTransport::from_settings(settings)?;
        let ns2_routing = settings.text(&COMPAT) == "ns2";
        Ok(Scheme {
            name: settings.text(&NAME),
            port: parts.port_settings(),
            host_port: HostPort::from_settings(settings),
            ns2_routing,
            on_linux: real_hosts(settings, &parts),
            fluid: flow_level(settings, ns2_routing, || parts.fluid(settings)),
            parts,
        })
    }

    /// Runs the scheme in `world`, which gets the four parts with their types.
    pub fn run_in<W: World>(&self, world: W) -> W::Output {
        self.parts.run_in(world)
    }

    /// The transport, the tagger or the controller, if one of them is a `P`.
    #[doc(hidden)]
    pub fn part<P: Clone + 'static>(&self) -> Option<P> {
        self.parts.parts().into_iter().find_map(|part| part.downcast_ref().cloned())
    }

    /// The fluid form of the scheme.
    ///
    /// # Errors
    /// If a part has no fluid form. The error says which key and why.
    pub fn flow_level(&self) -> Result<FlowLevel, SettingError> {
        self.fluid.clone()
    }

    /// The scheme's hosts on Linux.
    ///
    /// # Errors
    /// If only the kernel's TCP can carry the packets' header, and hosts do not use it; or if ports have to know
    /// connections, and hosts use UDP.
    pub fn on_linux(&self) -> Result<RealHosts, SettingError> {
        self.on_linux.clone()
    }

    /// Facts about the scheme's parts.
    #[doc(hidden)]
    pub fn facts(&self) -> Facts {
        self.run_in(FactsOf)
    }
}

/// Collects the facts about a scheme's parts.
struct FactsOf;

impl World for FactsOf {
    type Output = Facts;

    fn run<T, G, P, C>(self, _parts: Parts<T, G, P, C>) -> Facts
    where
        T: Transport,
        G: Tagging<T::Header>,
        P: Ports<T::Header>,
        C: Controllers<T::Header>,
    {
        Facts {
            needs_one_path: T::NEEDS_ONE_PATH,
            waits_for_applications: T::WAITS_FOR_APPLICATIONS,
            is_spread: T::Header::IS_SPREAD,
            has_controllers: C::Controller::IS_THERE,
            has_tcp_form: size_of::<T::Header>() == 0 || T::Header::TUNNEL.is_some(),
            has_codec: T::Header::CODEC.is_some(),
            has_ranks: P::Port::ORDERS_BY_RANK,
        }
    }
}

/// The kernel's TCP if it has the transport, its packets can carry tags and header, and no port orders by rank; otherwise
/// the simulator's hosts over UDP.
fn real_hosts(settings: &Settings, parts: &AnyTransport) -> Result<RealHosts, SettingError> {
    let Facts { has_tcp_form, has_codec, has_ranks, .. } = parts.run_in(FactsOf);
    let is_simulators = settings.is(&LAB_SENDERS, "simulator");
    let fits_tcp = has_tcp_form && !has_ranks;
    let (control, tags) = parts.on_linux();
    match (control, tags) {
        (Some(control), Some(tags)) if fits_tcp && !is_simulators => {
            Ok(RealHosts::Kernel(linux_hosts(settings, control, tags)))
        }
        (_, tags) if has_codec => over_udp(settings, tags),
        _ => Err(only_in_tcp(settings, is_simulators)),
    }
}

fn over_udp(settings: &Settings, tags: Option<HostTags>) -> Result<RealHosts, SettingError> {
    if settings.is(&SAME_FLOW, "connection") {
        let problem = "`same_flow = \"connection\"` does not run over UDP, where ports do not know connections. Use \
                       `same_flow = \"flow\"`.";
        return Err(SettingError::sentence(&SAME_FLOW, problem));
    }
    let rto_min = settings.get(&RTO_MIN).map(|_| settings.time(&RTO_MIN));
    Ok(RealHosts::OverUdp(UdpHosts { rto_min, tags }))
}

/// The error for hosts that do not use the kernel's TCP, where only that carries the header.
fn only_in_tcp(settings: &Settings, is_simulators: bool) -> SettingError {
    let [transport, controller] = [Role::Transport, Role::Controller].map(Role::parameter);
    let (hosts, switches) = (settings.text(transport), settings.text(controller));
    let (key, why) = match is_simulators {
        true => (&LAB_SENDERS, "Remove `lab_senders`.".to_owned()),
        false => (transport, "Use reno, ecn-star, cubic or dctcp.".to_owned()),
    };
    let problem = format!(
        "`transport = \"{hosts}\"` with `controller = \"{switches}\"` does not run on real packets: only the \
         kernel's TCP carries this controller's header. {why}"
    );
    SettingError::sentence(key, problem)
}

fn linux_hosts(settings: &Settings, control: KernelControl, tags: HostTags) -> LinuxHosts {
    let settings = TcpSettings::from_settings(settings);
    let TcpSettings { initial_window, rto_min, open_connections, .. } = settings;
    LinuxHosts {
        control,
        tags,
        initial_window,
        max_window: settings.max_window.min(settings.receive_window),
        rto_min,
        open_connections,
        acks_every_packet: settings.ack_ratio == 1,
    }
}

fn flow_level(
    settings: &Settings,
    ns2_routing: bool,
    of_parts: impl FnOnce() -> Fluid<FlowLevel>,
) -> Result<FlowLevel, SettingError> {
    if ns2_routing {
        let problem = "`compat = \"ns2\"` has no fluid form: it sprays packets over all paths. Use \
                       `compat = \"none\"`.";
        return Err(SettingError::sentence(&COMPAT, problem));
    }
    match settings.get(&DISCIPLINE) {
        Some(word) => discipline::flow_level(&word.to_string()),
        None => of_parts().map_err(|reason| reason.into_error(settings)),
    }
}

impl FlowLevel {
    /// The fluid form of the scheme that complete and checked settings describe.
    ///
    /// # Errors
    /// Those of [`Scheme::from_settings`] and [`Scheme::flow_level`]. For a schedule, if another part
    /// or `compat` acts on packets, which a schedule does not send.
    pub fn from_settings(settings: &Settings) -> Result<FlowLevel, SettingError> {
        let Some(schedule) = catalogue::schedule(settings) else {
            return Scheme::from_settings(settings)?.flow_level();
        };
        let of_parts =
            catalogue::BESIDE_SCHEDULES.iter().map(|part| (part.role.parameter(), part.name));
        for (parameter, only) in of_parts.chain([(&COMPAT, "none")]) {
            let found = settings.text(parameter);
            if found != only {
                let key = parameter.name;
                let problem = format!(
                    "`{key} = \"{found}\"` acts on packets, and this transport sends none. Use \
                     `{key} = \"{only}\"`."
                );
                return Err(SettingError::sentence(parameter, problem));
            }
        }
        match settings.get(&DISCIPLINE) {
            Some(word) => discipline::flow_level(&word.to_string()),
            None => Ok(schedule),
        }
    }
}

#[cfg(test)]
mod tests;
