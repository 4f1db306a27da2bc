//! Hosts and switches as a file lists them, link by link.

use flowsched_units::{Kind, Parameter, Rate, SettingError, Settings, Time};

use crate::builder::{Link, NetworkBuilder, Switch, is_link_rate};
use crate::kind::{LIKE_LEAF_SPINE, LINK_DELAY, LONGEST_DELAY, TopologyKind, parameter};

const NEEDED: &str = "none: must be given";

const HOSTS: Parameter = Parameter {
    name: "hosts",
    kind: Kind::Text,
    default: None,
    about: "The hosts' names, separated by blanks; the first is host 0.",
    source: NEEDED,
};

const LINKS: Parameter = Parameter {
    name: "links",
    kind: Kind::Text,
    default: None,
    about: "One link per line, or links separated by \";\": the names of the two ends, then rate \
            and delay if they differ from `link` and `link_delay`: \"A B 1Gbps 5us\".",
    source: NEEDED,
};

const LINK: Parameter = parameter("link", Kind::Rate, "10Gbps", "Rate of a link.", LIKE_LEAF_SPINE);

pub(crate) const KIND: TopologyKind = TopologyKind {
    name: "custom",
    about: "A small network that is listed link by link: hosts by name, everything else that a \
            link names is a switch.",
    source: "scenes such as EPN 2018, Figure 8",
    parameters: &[HOSTS, LINKS, LINK, LINK_DELAY],
    connect,
};

/// A link as it is listed.
struct Listed<'a> {
    ends: [&'a str; 2],
    link: Link,
}

fn connect(settings: &Settings) -> Result<NetworkBuilder, SettingError> {
    let (hosts, links) = (settings.text(&HOSTS), settings.text(&LINKS));
    let hosts: Vec<&str> = hosts.split_whitespace().collect();
    if let Some(twice) = (1..hosts.len()).find(|index| hosts[..*index].contains(&hosts[*index])) {
        let found = format!("\"{}\" a second time", hosts[twice]);
        return Err(SettingError::new(&HOSTS, found, "each name once"));
    }
    let mut listed = Vec::new();
    for (index, line) in links.split(['\n', ';']).enumerate() {
        if !line.trim().is_empty() {
            listed.push(parse(line, index + 1, settings)?);
        }
    }
    let mut switches: Vec<&str> = Vec::new();
    for end in listed.iter().flat_map(|link| link.ends) {
        if !hosts.contains(&end) && !switches.contains(&end) {
            switches.push(end);
        }
    }
    let mut builder = NetworkBuilder::new();
    let tier = builder.tier("switch", switches.len() as u32);
    let switch = |name: &str| switches.iter().position(|known| *known == name).map(|at| tier[at]);
    for host in &hosts {
        let (edge, link) = only_link(host, &listed, switch)?;
        builder.host(edge, link);
    }
    for Listed { ends: [one, other], link } in &listed {
        if let (Some(one), Some(other)) = (switch(one), switch(other)) {
            builder.connect(one, other, *link);
        }
    }
    builder.name_nodes(hosts.iter().chain(&switches).map(|name| (*name).to_owned()).collect());
    Ok(builder)
}

/// The one link of a host, which leads to a switch.
fn only_link(
    host: &str,
    listed: &[Listed<'_>],
    switch: impl Fn(&str) -> Option<Switch>,
) -> Result<(Switch, Link), SettingError> {
    let mut links = listed.iter().filter(|link| link.ends.contains(&host));
    let (Some(Listed { ends, link }), None) = (links.next(), links.next()) else {
        let count = listed.iter().filter(|link| link.ends.contains(&host)).count();
        let found = format!("{count} links of the host \"{host}\"");
        return Err(SettingError::new(&LINKS, found, "one link for every host"));
    };
    let other = if ends[0] == host { ends[1] } else { ends[0] };
    let edge = switch(other).ok_or_else(|| {
        let found = format!("a link between the hosts \"{host}\" and \"{other}\"");
        SettingError::new(&LINKS, found, "hosts that are linked to switches")
    })?;
    Ok((edge, *link))
}

fn parse<'a>(
    text: &'a str,
    number: usize,
    settings: &Settings,
) -> Result<Listed<'a>, SettingError> {
    let refuse = |allowed: &str| {
        let found = format!("\"{}\" as link number {number}", text.trim());
        SettingError::new(&LINKS, found, allowed)
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let (one, other, values) = match words.as_slice() {
        [one, other, values @ ..] if one != other && values.len() <= 2 => (*one, *other, values),
        _ => {
            return Err(refuse(
                "two different ends, then optionally rate and delay: A B 1Gbps 5us",
            ));
        }
    };
    let rate = match values.first() {
        None => settings.rate(&LINK),
        Some(rate) => match rate.parse::<Rate>() {
            Ok(rate) if is_link_rate(rate) => rate,
            _ => return Err(refuse("a rate from 1Kbps to 8Tbps, such as 1Gbps, after its ends")),
        },
    };
    let delay = match values.get(1) {
        None => settings.time(&LINK_DELAY),
        Some(delay) => match delay.parse::<Time>() {
            Ok(delay) if delay <= LONGEST_DELAY => delay,
            _ => return Err(refuse("a delay such as 5us, of at most 1s, after its rate")),
        },
    };
    Ok(Listed { ends: [one, other], link: Link { rate, delay } })
}

#[cfg(test)]
mod tests {
    use flowsched_units::Value;

    use super::*;
    use crate::{HostId, Network, NodeId, build, kind};

    fn custom(hosts: &str, links: &str) -> Result<Network, SettingError> {
        let mut settings = Settings::defaults(kind("custom").unwrap().parameters);
        settings.set("hosts", Value::Text(hosts.into()));
        settings.set("links", Value::Text(links.into()));
        build("custom", &settings)
    }

    /// EPN 2018, Figures 3 and 8: f1 and f2 share the link between the switches, f2 and f3 the
    /// one to their receiver.
    #[test]
    fn the_three_flows_of_epn_share_two_links() {
        let links = "s1 A 1Gbps\ns2 A 1Gbps\nA B 1Gbps 5us\nB d1 1Gbps\nB d2 1Gbps\ns3 B 1Gbps\n";
        let network = custom("s1 s2 s3 d1 d2", links).unwrap();
        let path = |src, dst| network.first_path(HostId(src), HostId(dst)).collect::<Vec<_>>();
        let [one, two, three] = [path(0, 3), path(1, 4), path(2, 4)];
        assert_eq!((one.len(), two.len(), three.len()), (3, 3, 2));
        assert_eq!((one[1], two[2]), (two[1], three[1]));
        let between = network.port(one[1]);
        assert_eq!((between.rate, between.delay), (Rate::from_gbps(1), Time::from_us(5)));
        assert_eq!(
            (network.name(between.owner), network.name(NodeId(4))),
            ("A".into(), "d2".into())
        );
    }

    #[test]
    fn what_is_no_network_is_refused() {
        let good = "a S; b S";
        assert!(custom("a b", good).is_ok());
        let bad = [
            ("a b", "a S; b T", "kind"),
            ("a a", good, "hosts"),
            ("a b c", good, "links"),
            ("a b", "a S; b S; a T", "links"),
            ("a b", "a b", "links"),
            ("a b", "a S; b S; S S", "links"),
            ("a b", "a S; b", "links"),
            ("a b", "a S; b S fast", "links"),
            ("a b", "a S; b S 0bps", "links"),
            ("a b", "a S; b S 1Gbps 2s", "links"),
            ("a b", "a S; b S 1Gbps 1us 1", "links"),
            ("", "", "kind"),
        ];
        for (hosts, links, key) in bad {
            let error = custom(hosts, links).unwrap_err();
            assert_eq!(error.key, key, "{hosts:?} {links:?}: {error}");
        }
        let error = custom("a b", "a S\n\nb S fast").unwrap_err();
        assert!(error.to_string().contains("\"b S fast\" as link number 3"), "{error}");
    }
}
