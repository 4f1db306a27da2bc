//! The agent with real traffic between network namespaces, observed at the far end. Needs root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/seen.rs"]
mod seen;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

use agent::Agent;
use lab::{Capture, Pair, sh};
use seen::Seen;

const PORT: u16 = 5001;
const SINK: &str = "10.77.0.2:5001";
const SINK6: &str = "[fd77::2]:5001";
/// Three levels.
const RULE: &str = "thresholds = \"20KB 100KB\"\ndscp = [40, 20, 3]\n";

fn level_at(offset: u64) -> u8 {
    [40, 20, 3][usize::from(offset > 20_000) + usize::from(offset > 100_000)]
}

/// The data packets to [`PORT`]. Checks that their checksums are correct.
fn data(frames: &[Vec<u8>]) -> Vec<Seen> {
    let all: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
    let wrong = all.iter().find(|packet| packet.to == PORT && !packet.checksums_right);
    assert!(wrong.is_none(), "wrong checksum: {wrong:?}");
    all.into_iter().filter(|packet| packet.to == PORT && packet.payload > 0).collect()
}

#[test]
fn every_packet_has_the_code_point_of_its_offset() {
    if !lab::is_root("every_packet_has_the_code_point_of_its_offset") {
        return;
    }
    for address in [SINK, SINK6] {
        let pair = Pair::new();
        let _agent = Agent::start(&pair, &format!("{RULE}[message]\nidle = \"never\"\n"), &[]);
        lab::sink(&pair.b, address);
        let capture = Capture::start(&pair.b);
        lab::send(&pair.a, address, vec![500_000], Duration::ZERO);
        let frames = capture.end();
        let all: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
        let syn = all.iter().find(|packet| packet.syn && packet.to == PORT).unwrap();
        let answer = all.iter().find(|packet| packet.syn && packet.from == PORT).unwrap();
        assert!(syn.ecn == 0 && syn.ece && answer.ece, "ECN is no longer negotiated");
        let packets = data(&frames);
        let bytes: usize = packets.iter().map(|packet| packet.payload).sum();
        assert!(bytes >= 500_000, "{address}: {bytes} bytes arrived");
        let mut sent = BTreeSet::new();
        for packet in packets {
            let offset = u64::from(packet.seq.wrapping_sub(syn.seq).wrapping_sub(1));
            assert_eq!(packet.dscp, level_at(offset), "{address}: offset {offset}");
            // TCP sets ECT on all data packets but those that it sends again (RFC 3168, 6.1.5).
            let expected = if sent.insert(offset) { 2 } else { 0 };
            assert_eq!(packet.ecn, expected, "the ECN bits are not TCP's own: {packet:?}");
        }
        assert!(all.iter().all(|packet| packet.to == PORT || packet.dscp == 0), "tagged twice");
    }
}

#[test]
fn a_persistent_connections_tenth_message_starts_at_the_top_again() {
    if !lab::is_root("a_persistent_connections_tenth_message_starts_at_the_top_again") {
        return;
    }
    const MESSAGE: u64 = 60_000;
    for end in ["acknowledged", "sent"] {
        let pair = Pair::new();
        let agent = Agent::start(
            &pair,
            &format!("{RULE}[message]\nidle = \"20ms\"\nend = \"{end}\"\n"),
            &[],
        );
        lab::sink(&pair.b, SINK);
        let capture = Capture::start(&pair.b);
        lab::send(&pair.a, SINK, vec![MESSAGE as usize; 10], Duration::from_millis(100));
        let frames = capture.end();
        let packets = data(&frames);
        let first = packets
            .iter()
            .map(|packet| packet.seq)
            .min_by_key(|seq| seq.wrapping_sub(packets[0].seq) as i32);
        let offset = |packet: &Seen| u64::from(packet.seq.wrapping_sub(first.unwrap()));
        for message in 0..10 {
            let start = packets.iter().find(|packet| offset(packet) == message * MESSAGE);
            let start = start.unwrap_or_else(|| panic!("message {message} begins with no packet"));
            assert_eq!(start.dscp, 40, "{end}: message {message}");
            let late = packets.iter().filter(|packet| {
                (message * MESSAGE + 25_000..(message + 1) * MESSAGE).contains(&offset(packet))
            });
            assert!(late.clone().count() > 10 && late.into_iter().all(|packet| packet.dscp == 20));
        }
        assert!(agent.metric("flowsched_messages_total{by=\"idle\"}") >= 9);
        assert!(agent.ok("histogram").lines().count() > 2);
    }
}

#[test]
fn an_application_tells_where_its_messages_begin() {
    if !lab::is_root("an_application_tells_where_its_messages_begin") {
        return;
    }
    let pair = Pair::new();
    let rule = format!("{RULE}[message]\nidle = \"never\"\nstart = \"priority\"\n");
    let _agent = Agent::start(&pair, &rule, &[]);
    lab::sink(&pair.b, SINK);
    let capture = Capture::start(&pair.b);
    lab::on(&pair.a, || {
        use nix::sys::socket::{setsockopt, sockopt};
        let mut stream = TcpStream::connect(SINK).unwrap();
        for message in 0..4 {
            setsockopt(&stream, sockopt::Priority, &(message % 2)).unwrap();
            stream.write_all(&[1; 50_000]).unwrap();
            std::thread::sleep(Duration::from_millis(30));
        }
    })
    .join()
    .unwrap();
    let packets = data(&capture.end());
    let base = packets[0].seq;
    for message in 0..4u32 {
        let start = packets.iter().find(|p| p.seq.wrapping_sub(base) == message * 50_000).unwrap();
        assert_eq!(start.dscp, 40, "message {message}");
    }
}

#[test]
fn datagrams_are_tagged_by_flow() {
    if !lab::is_root("datagrams_are_tagged_by_flow") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::start(&pair, &format!("{RULE}[flows]\nidle = \"1s\"\n"), &[]);
    let capture = Capture::start(&pair.b);
    let receiver = lab::on(&pair.b, || {
        let socket = UdpSocket::bind(SINK).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        (0..201).filter(|_| socket.recv(&mut [0; 2000]).is_ok()).count()
    });
    std::thread::sleep(Duration::from_millis(100));
    lab::on(&pair.a, || {
        let socket = UdpSocket::bind("10.77.0.1:4000").unwrap();
        for _ in 0..20 {
            // Send no more than the receiver's buffer takes.
            std::thread::sleep(Duration::from_millis(2));
            for _ in 0..10 {
                socket.send_to(&[9; 1000], SINK).unwrap();
            }
        }
        std::thread::sleep(Duration::from_millis(1500));
        socket.send_to(&[9; 1000], SINK).unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(receiver.join().unwrap(), 201, "datagrams were lost");
    let packets = data(&capture.end());
    assert_eq!(packets.len(), 201);
    for (number, packet) in packets.iter().enumerate() {
        let offset = if number == 200 { 0 } else { number as u64 * 1000 };
        assert_eq!(packet.dscp, level_at(offset), "datagram {number}");
    }
    assert_eq!(agent.metric("flowsched_hash_flows_total"), 1);
}

#[test]
fn what_is_forwarded_for_a_container_is_tagged_by_flow() {
    if !lab::is_root("what_is_forwarded_for_a_container_is_tagged_by_flow") {
        return;
    }
    let pair = Pair::new();
    let _agent = Agent::start(&pair, &format!("{RULE}[flows]\nidle = \"never\"\n"), &[]);
    let container = pair.container();
    lab::sink(&pair.b, SINK);
    let capture = Capture::start(&pair.b);
    lab::send(&container, SINK, vec![300_000], Duration::ZERO);
    let packets = data(&capture.end());
    let bytes: usize = packets.iter().map(|packet| packet.payload).sum();
    assert!(bytes >= 300_000, "{bytes} bytes arrived");
    for packet in &packets {
        let offset = u64::from(packet.seq.wrapping_sub(packets[0].seq));
        assert_eq!(packet.dscp, level_at(offset), "offset {offset}");
    }
}

/// Makes `tun0` on this thread's host. Packets that leave it are read from the file.
#[allow(unsafe_code)]
fn tun() -> File {
    const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
    let file = File::options().read(true).write(true).open("/dev/net/tun").unwrap();
    // SAFETY: all zero is a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"tun0") {
        *place = *byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request is initialised and outlives the call.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, &raw const request) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    file
}

#[test]
fn packets_without_a_link_layer_header_are_tagged_too() {
    if !lab::is_root("packets_without_a_link_layer_header_are_tagged_too") {
        return;
    }
    let pair = Pair::new();
    let mut tunnel = lab::on(&pair.a, tun).join().unwrap();
    sh(&format!(
        "ip -n {0} addr add 10.97.0.1/24 dev tun0 && \
         ip -n {0} addr add fd97::1/64 dev tun0 nodad && ip -n {0} link set tun0 up",
        pair.a
    ));
    let mut agent = Agent::prepare(&pair, RULE);
    let rule = format!("interfaces = [\"tun0\"]\n{RULE}[flows]\nidle = \"never\"\n");
    std::fs::write(agent.config(), rule).unwrap();
    agent.launch(&[]);
    for (from, to, ethertype) in
        [("10.97.0.1:0", "10.97.0.2:5001", 0x0800_u16), ("[fd97::1]:0", "[fd97::2]:5001", 0x86dd)]
    {
        lab::on(&pair.a, move || {
            let socket = UdpSocket::bind(from).unwrap();
            for _ in 0..150 {
                socket.send_to(&[9; 1000], to).unwrap();
            }
        })
        .join()
        .unwrap();
        let mut packet = [0; 2000];
        let mut offset = 0;
        while offset < 150_000 {
            let length = tunnel.read(&mut packet).unwrap();
            let frame = [&[0; 12], &ethertype.to_be_bytes()[..], &packet[..length]].concat();
            // The kernel sends a few packets of its own on a new interface.
            let Some(seen) = Seen::parse(&frame).filter(|seen| seen.to == PORT) else { continue };
            assert_eq!(seen.dscp, level_at(offset), "{to}: offset {offset}");
            assert!(seen.checksums_right, "{seen:?}");
            offset += seen.payload as u64;
        }
    }
}

#[test]
fn a_dry_run_explains_and_attaches_nothing() {
    if !lab::is_root("a_dry_run_explains_and_attaches_nothing") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::prepare(&pair, RULE);
    let said = agent.ok(&format!("start --dry-run --config {}", agent.config().display()));
    let expected = ["instructions verified", "east (tag_ethernet)", "DSCP 40, up to 20KB"];
    assert!(expected.iter().all(|text| said.contains(text)), "{said}");
    assert!(!agent.is_installed());
    lab::sink(&pair.b, SINK);
    let capture = Capture::start(&pair.b);
    lab::send(&pair.a, SINK, vec![3000], Duration::from_millis(5));
    assert!(data(&capture.end()).iter().all(|packet| packet.dscp == 0));
}

#[test]
fn the_inner_flow_of_vxlan_decides_on_the_outer_code_point() {
    if !lab::is_root("the_inner_flow_of_vxlan_decides_on_the_outer_code_point") {
        return;
    }
    let pair = Pair::new();
    let rule = format!("{RULE}[flows]\nidle = \"never\"\n");
    let _agent = Agent::start(&pair, &rule, &[]);
    pair.tunnel();
    lab::sink(&pair.b, "10.88.0.2:5001");
    let capture = Capture::start(&pair.b);
    lab::send(&pair.a, "10.88.0.2:5001", vec![300_000], Duration::ZERO);
    let outer: Vec<u8> = capture
        .end()
        .iter()
        .filter_map(|frame| Seen::parse(frame))
        .filter(|packet| packet.to == 4789 && packet.payload > 1000 && packet.from_first_host)
        .map(|packet| packet.dscp)
        .collect();
    let count = |dscp| outer.iter().filter(|seen| **seen == dscp).count();
    assert!(count(40) >= 10 && count(20) >= 40 && count(3) >= 100, "{outer:?}");
    assert_eq!(outer.len(), count(40) + count(20) + count(3));
}

#[test]
fn ect_is_forced_only_where_ecn_was_negotiated() {
    if !lab::is_root("ect_is_forced_only_where_ecn_was_negotiated") {
        return;
    }
    for negotiated in [true, false] {
        let pair = Pair::new();
        let set = format!("net.ipv4.tcp_ecn={}", u8::from(negotiated));
        sh(&format!("nsenter --net=/run/netns/{} sysctl -qw {set}", pair.a));
        let agent = Agent::start(&pair, &format!("{RULE}force-ect = true\n"), &[]);
        lab::sink(&pair.b, SINK);
        let capture = Capture::start(&pair.b);
        // The far end does not receive for a moment, so that packets are lost and sent again.
        let far = pair.b.clone();
        let deaf = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            sh(&format!(
                "ip -n {far} addr del 10.77.0.2/24 dev west; sleep 0.3; \
                 ip -n {far} addr add 10.77.0.2/24 dev west"
            ));
        });
        lab::send(&pair.a, SINK, vec![50_000; 60], Duration::from_millis(5));
        deaf.join().unwrap();
        std::thread::sleep(Duration::from_millis(1000));
        let frames = capture.end();
        let packets = data(&frames);
        let expected = if negotiated { 2 } else { 0 };
        let other = packets.iter().find(|packet| packet.ecn != expected);
        assert!(other.is_none(), "negotiated {negotiated}: {other:?}");
        let all: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
        assert!(all.iter().filter(|packet| packet.syn).all(|packet| packet.ecn == 0));
        if negotiated {
            assert!(agent.metric("flowsched_ect_forced_total") > 0, "nothing was sent again");
        }
    }
}

#[test]
fn only_what_is_selected_is_tagged() {
    if !lab::is_root("only_what_is_selected_is_tagged") {
        return;
    }
    let pair = Pair::new();
    lab::sink(&pair.b, SINK);
    lab::sink(&pair.b, "10.77.0.2:5002");
    lab::sink(&pair.b, SINK6);
    let tagged = |select: &str, address: &'static str| {
        let _agent = Agent::start(&pair, &format!("{RULE}{select}\n"), &[]);
        let capture = Capture::start(&pair.b);
        lab::send(&pair.a, address, vec![3000], Duration::from_millis(5));
        let frames = capture.end();
        let seen = frames.iter().filter_map(|frame| Seen::parse(frame));
        let data = seen.filter(|packet| packet.payload > 0 && packet.from_first_host);
        let code_points: BTreeSet<u8> = data.map(|packet| packet.dscp).collect();
        assert_eq!(code_points.len(), 1, "{select}: {code_points:?}");
        code_points.contains(&40)
    };
    let ports = "[select]\nports = [\"5001\"]";
    assert!(tagged(ports, SINK) && !tagged(ports, "10.77.0.2:5002"));
    let prefixes = "[select]\nprefixes = [\"10.77.0.0/30\"]";
    assert!(tagged(prefixes, SINK) && !tagged(prefixes, SINK6));
    let Some(root) = cgroup_root() else {
        eprintln!("skipped: no control groups of version 2");
        return;
    };
    let name = format!("flowsched-test-{}", std::process::id());
    let folder = format!("{root}/{name}");
    sh(&format!("mkdir -p {folder}/inner"));
    let rule = format!("{RULE}[select]\ncgroups = [\"/{name}\"]\n");
    let agent = Agent::start(&pair, &rule, &[]);
    let capture = Capture::start(&pair.b);
    lab::send(&pair.a, SINK, vec![3000], Duration::from_millis(5));
    sh(&format!(
        "nsenter --net=/run/netns/{} bash -c 'echo $$ > {folder}/inner/cgroup.procs; \
         head -c 3000 /dev/zero > /dev/tcp/10.77.0.2/5002'",
        pair.a
    ));
    let frames = capture.end();
    drop(agent);
    sh(&format!("sleep 0.1; rmdir {folder}/inner {folder}"));
    let seen: Vec<Seen> = frames.iter().filter_map(|frame| Seen::parse(frame)).collect();
    let all = |port: u16, dscp: u8| {
        let data = seen.iter().filter(|packet| packet.to == port && packet.payload > 0);
        data.map(|packet| packet.dscp).collect::<BTreeSet<u8>>() == BTreeSet::from([dscp])
    };
    assert!(all(5001, 0) && all(5002, 40), "{seen:?}");
}

fn cgroup_root() -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/mounts").ok()?;
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"))?;
    line.split(' ').nth(1).map(str::to_owned)
}

#[test]
fn super_packets_are_charged_whole_and_can_be_capped() {
    if !lab::is_root("super_packets_are_charged_whole_and_can_be_capped") {
        return;
    }
    let pair = Pair::new();
    sh(&format!(
        "nsenter --net=/run/netns/{} ethtool -K east tx on tso on gso on >/dev/null; \
         ip -n {} link set east gso_max_segs 65535",
        pair.a, pair.a
    ));
    lab::sink(&pair.b, SINK);
    let limits = || sh(&format!("ip -n {} -d link show dev east", pair.a));
    let before = limits();
    let agent = Agent::start(&pair, &format!("{RULE}[gso]\nmax-size = \"16KiB\"\n"), &[]);
    assert!(limits().contains("gso_max_size 16384"));
    lab::send(&pair.a, SINK, vec![1_000_000], Duration::ZERO);
    let charged: u64 = (0..3)
        .map(|level| {
            let dscp = [40, 20, 3][level];
            agent.metric(&format!(
                "flowsched_payload_bytes_total{{level=\"{level}\",dscp=\"{dscp}\"}}"
            ))
        })
        .sum();
    assert!((1_000_000..1_200_000).contains(&charged), "{charged} bytes charged");
    let page = settled(&agent);
    let sum = |name: &str| -> u64 {
        let lines = page.lines().filter_map(|line| line.strip_prefix(name));
        let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        values.sum()
    };
    let (packets, on_wire) =
        (sum("flowsched_packets_total{"), sum("flowsched_wire_packets_total{"));
    assert!(
        on_wire > 1_000_000 / 1448 && packets < on_wire / 2,
        "{packets} packets became {on_wire} on the wire"
    );
    let sent = sum("flowsched_interface_packets_total{");
    let passed = sum("flowsched_interface_packets_passed_total{");
    assert!(sent > 0 && sent == passed, "{passed} of {sent} passed");
    agent.ok("uninstall");
    assert_eq!(limits(), before, "the cap was not taken back");
}

/// The agent's metrics once the interface has sent nothing more for a while. The interface's count and the tagger's are
/// not read at the same moment.
fn settled(agent: &Agent) -> String {
    let counts = |page: &str| -> Vec<String> {
        let of_interfaces = |line: &&str| line.starts_with("flowsched_interface_packets_");
        page.lines().filter(of_interfaces).map(str::to_owned).collect()
    };
    let mut page = agent.ok("metrics");
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(100));
        let next = agent.ok("metrics");
        if counts(&next) == counts(&page) {
            return next;
        }
        page = next;
    }
    panic!("the interface does not stop sending:\n{page}");
}

#[test]
fn iperf_and_memcached_run_as_ever() {
    if !lab::is_root("iperf_and_memcached_run_as_ever") {
        return;
    }
    for tool in ["iperf3", "memcached"] {
        if sh(&format!("command -v {tool} || true")).is_empty() {
            eprintln!("skipped: {tool} is not installed (scripts/install-agent-deps.sh --test)");
            return;
        }
    }
    let pair = Pair::new();
    let agent = Agent::start(&pair, RULE, &[]);
    let server = format!("nsenter --net=/run/netns/{}", pair.b);
    sh(&format!("{server} iperf3 -s -1 -D"));
    // Neither server reports when it listens.
    let client = format!("nsenter --net=/run/netns/{} iperf3 -c 10.77.0.2 -n 20M -P 4", pair.a);
    let report = sh(&format!("for n in $(seq 100); do {client} && break; sleep 0.1; done"));
    assert!(report.contains("receiver"), "{report}");
    let mut memcached = std::process::Command::new("nsenter")
        .args([&format!("--net=/run/netns/{}", pair.b), "memcached", "-u", "nobody", "-p", "11211"])
        .args(["-l", "10.77.0.2"])
        .spawn()
        .unwrap();
    let host = pair.a.clone();
    let answers = lab::on(&host, || {
        let connect = |_| {
            std::thread::sleep(Duration::from_millis(100));
            TcpStream::connect("10.77.0.2:11211").ok()
        };
        let mut stream = (0..100).find_map(connect).expect("memcached does not listen");
        let mut answer = [0; 4096];
        let value = "v".repeat(1024);
        stream.write_all(format!("set key 0 0 1024\r\n{value}\r\n").as_bytes()).unwrap();
        assert!(stream.read(&mut answer).unwrap() > 0);
        (0..200)
            .filter(|_| {
                stream.write_all(b"get key\r\n").unwrap();
                stream.read(&mut answer).is_ok_and(|length| length > 1000)
            })
            .count()
    })
    .join();
    memcached.kill().unwrap();
    memcached.wait().unwrap();
    assert_eq!(answers.unwrap(), 200);
    assert!(agent.metric("flowsched_socket_flows_total") >= 5);
}

/// The metrics page, after a pause.
fn metrics_page(host: &str) -> String {
    lab::on(host, || {
        std::thread::sleep(Duration::from_millis(25));
        let mut stream = TcpStream::connect("127.0.0.1:9487").unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    })
    .join()
    .unwrap()
}

/// The value of the metric `name`.
fn counted(page: &str, name: &str) -> u64 {
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {page}")).parse().unwrap()
}

#[test]
fn the_hosts_own_messages_give_thresholds() {
    if !lab::is_root("the_hosts_own_messages_give_thresholds") {
        return;
    }
    let pair = Pair::new();
    let rule = format!("{RULE}[metrics]\nlisten = \"127.0.0.1:9487\"\nrun-time = true\n");
    let agent = Agent::start(&pair, &rule, &[]);
    lab::sink(&pair.b, SINK);
    let few = agent.run("thresholds --load 0.8");
    assert!(!few.status.success() && String::from_utf8_lossy(&few.stderr).contains("at least"));
    for size in [2_000, 2_000, 30_000, 30_000, 400_000, 1_000_000] {
        lab::send(&pair.a, SINK, vec![size], Duration::ZERO);
    }
    // A connection's last message is known to have ended when its FIN leaves, after everything that
    // is still in its buffer.
    let is_complete = |page: &String| counted(page, "flowsched_message_bytes_count") >= 6;
    let mut pages = (0..400).map(|_| metrics_page(&pair.a));
    let page = pages.find(is_complete).expect("a size is missing");
    let count = |name: &str| counted(&page, name);
    assert_eq!(count("flowsched_socket_flows_total"), 6);
    // SYN, ACK, data and FIN of each. The kernel decides how many segments one packet carries.
    assert!(count("flowsched_program_runs_total") >= 24);
    let printed = agent.ok("thresholds --load 0.8 --levels 3 --least 6");
    let line = printed.lines().find_map(|line| line.strip_prefix("thresholds = ")).unwrap();
    assert_eq!(line.split_whitespace().count(), 2, "{printed}");
    assert!(agent.ok("top --count 1").contains("share of packets"));
    assert!(agent.ok("status").contains("east by "));
}
