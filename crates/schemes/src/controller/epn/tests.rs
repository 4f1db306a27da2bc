use proptest::prelude::*;

use super::*;

/// A controller of a switch's port and the messages that it sends.
struct Switch {
    controller: EpnController,
    messages: Vec<Packet<EpnHeader>>,
    now: Time,
}

const LINK: u64 = 10;

/// The TTL of packets at this switch.
const HERE: u8 = 63;
const ELSEWHERE: u8 = 62;

impl Switch {
    fn new(changes: &[(&str, &str)]) -> Switch {
        let mut settings = Settings::defaults(PARAMETERS);
        for (name, text) in changes {
            let parameter = PARAMETERS.iter().find(|parameter| parameter.name == *name).unwrap();
            settings.set(*name, parameter.kind.parse(text).unwrap());
        }
        let site = Site { port: 0, rate: Rate::from_gbps(LINK), is_host: false };
        let controller = EpnController::new(EpnSettings::build(&settings).unwrap(), site);
        Switch { controller, messages: Vec::new(), now: Time::ZERO }
    }

    /// Lets time pass.
    fn wait(&mut self, time: Time) {
        let end = self.now + time;
        while self.controller.deadline() <= end {
            self.now = self.controller.deadline();
            self.controller.on_timer(self.now, |message| self.messages.push(message));
        }
        self.now = end;
    }

    fn forward(&mut self, flow: u32, header: EpnHeader) {
        let flags = Flags::default();
        let mut packet = Packet { header, ..Packet::data(flow, 0, 0, 1550, flags) };
        let none = |_| panic!("before the controller has thought");
        self.controller.on_forward(self.now, &mut packet, Backlog::default, none);
        assert_eq!(packet.header.ttl + 1, header.ttl);
    }

    /// A marked packet passes and the controller handles it. Returns the messages that the
    /// controller sends.
    fn sees(&mut self, flow: u32, header: EpnHeader) -> Vec<(u32, Tp)> {
        self.forward(flow, EpnHeader { is_sampled: true.into(), ..header });
        self.wait(self.controller.settings.processing_delay);
        self.said()
    }

    fn said(&mut self) -> Vec<(u32, Tp)> {
        self.messages.drain(..).map(|message| (message.flow, message.header.tp)).collect()
    }

    fn high(&self) -> Vec<u32> {
        self.controller.table().high().iter().map(|entry| entry.flow).collect()
    }
}

#[test]
fn counters_cannot_be_read_all_the_time() {
    let mut settings = Settings::defaults(PARAMETERS);
    settings.set("counter_interval", flowsched_units::Value::Time(Time::ZERO));
    assert_eq!(EpnSettings::build(&settings).unwrap_err().key, "counter_interval");
}

/// The header of a flow that is HIGH and wants `dp`.
fn wants(dp: u64) -> EpnHeader {
    EpnHeader {
        dp: Dp::of_bytes(dp, 15),
        br: Br::of_link(Rate::from_gbps(LINK)),
        ttl: INITIAL_TTL,
        ..EpnHeader::default()
    }
}

fn low(dp: u64, dsid: u8) -> EpnHeader {
    EpnHeader { tp: Tp::LOW, dsid, ..wants(dp) }
}

#[test]
fn the_flow_that_most_desires_it_is_high_and_others_are_told() {
    // EPN 2018, Algorithm 1, lines 4 to 7.
    let mut switch = Switch::new(&[]);
    assert_eq!(switch.sees(1, wants(500)), [], "it is HIGH as it is");
    assert_eq!(switch.sees(2, wants(700)), [(2, Tp::LOW)]);
    assert_eq!(switch.sees(3, wants(300)), [(1, Tp::LOW)]);
    assert_eq!(switch.sees(3, EpnHeader { dp: Dp::END, ..wants(0) }), [(1, Tp::HIGH)]);
    assert_eq!(switch.high(), [1]);
}

#[test]
fn a_message_is_a_packet_of_headers_that_says_which_switch_speaks() {
    // EPN 2018, III: "The EPN message is simply a copy of the packet headers (i.e., IP, EPN and
    // TCP) with the new TP tagged in the EPN header".
    let mut switch = Switch::new(&[]);
    switch.sees(1, wants(500));
    switch.forward(2, EpnHeader { is_sampled: true.into(), ..wants(700) });
    switch.wait(Time::from_us(10));
    let [message] = switch.messages[..] else { panic!("{:?}", switch.messages) };
    assert_eq!((message.wire, message.priority), (90, 0), "IP and TCP 40, VXLAN 50");
    assert_eq!((message.header.dp, message.header.dsid), (wants(700).dp, HERE));
}

#[test]
fn a_controller_takes_its_time() {
    // EPN 2018, V-B: the switch mirrors S-marked packets to a server, whose software "will capture
    // these packets, execute the scheduling algorithm and send out EPN messages".
    let mut switch = Switch::new(&[("processing_delay", "30us")]);
    switch.forward(1, EpnHeader { is_sampled: true.into(), ..wants(5) });
    switch.forward(2, EpnHeader { is_sampled: true.into(), ..wants(7) });
    switch.wait(Time::from_ns(29_999));
    assert_eq!(switch.high(), [0; 0]);
    switch.wait(Time::from_ns(1));
    assert_eq!((switch.high(), switch.said()), (vec![1], vec![(2, Tp::LOW)]));
}

#[test]
fn what_another_switch_demoted_is_left_to_it() {
    // Algorithm 1, lines 1 and 2: "if pkt.DSID = otherswitch then delete flow from FlowTable".
    let mut switch = Switch::new(&[]);
    switch.sees(1, wants(500));
    switch.sees(2, wants(300));
    assert_eq!(switch.sees(2, low(300, ELSEWHERE)), [(1, Tp::HIGH)], "it makes room at once");
    assert_eq!(switch.high(), [1]);
    assert_eq!(switch.sees(2, low(300, HERE)), [(2, Tp::HIGH), (1, Tp::LOW)]);
}

#[test]
fn without_dsid_no_switch_leaves_a_flow_to_another() {
    let mut switch = Switch::new(&[("dsid", "false")]);
    switch.sees(1, wants(500));
    assert_eq!(switch.sees(2, low(300, 0)), [(2, Tp::HIGH), (1, Tp::LOW)]);
    switch.sees(3, wants(200));
    assert!(switch.messages.iter().all(|message| message.header.dsid == 0));
}

#[test]
fn a_slower_link_says_so() {
    // IV-A: "the switch will send an EPN notification to the source if the switch's output link
    // speed is smaller than the value in the EPN header".
    let mut switch = Switch::new(&[]);
    let fast = EpnHeader { br: Br::of_link(Rate::from_gbps(40)), ..wants(500) };
    switch.forward(1, EpnHeader { is_sampled: true.into(), ..fast });
    switch.wait(Time::from_us(10));
    let [message] = switch.messages[..] else { panic!("{:?}", switch.messages) };
    assert_eq!((message.header.br.gbps(), message.header.tp), (10, Tp::HIGH));
    assert_eq!(switch.high(), [1], "no flow needs more of a link than there is");
    switch.messages.clear();
    assert_eq!(switch.sees(1, wants(500)), []);
}

#[test]
fn links_faster_than_their_flows_take_several() {
    // IV-A, Figure 4: "if this sum is below the link capacity, the priority controller will try
    // to promote more flows into the HIGH queue".
    let mut switch = Switch::new(&[]);
    let slow = |dp| EpnHeader { br: Br::of_link(Rate::from_gbps(5)), ..wants(dp) };
    assert_eq!([switch.sees(3, slow(300)), switch.sees(2, slow(500))], [[], []]);
    assert_eq!(switch.sees(1, slow(700)), [(1, Tp::LOW)]);
    assert_eq!(switch.high(), [3, 2]);
}

#[test]
fn unmarked_packets_acks_and_messages_are_not_looked_at() {
    let mut switch = Switch::new(&[]);
    switch.forward(1, wants(500));
    for flags in [Flags::ACK, Flags::MESSAGE] {
        let header = EpnHeader { is_sampled: true.into(), ..wants(500) };
        let mut packet = Packet { flags, header, ..Packet::default() };
        switch.controller.on_forward(Time::ZERO, &mut packet, Backlog::default, |_| {});
    }
    assert_eq!(switch.controller.deadline(), Time::MAX);
}

#[test]
fn a_dead_high_flow_makes_room_after_several_unchanged_readings() {
    // IV-B: "If the counter remains unchanged for several reads, the flow is detected as dead
    // and removed from the list"; "such a HIGH queue flow dies, the priority controller should
    // [...] schedule another flow into the HIGH queue".
    let mut switch = Switch::new(&[("counter_interval", "2ms"), ("counter_reads", "3")]);
    switch.sees(1, wants(500));
    switch.sees(2, wants(700));
    switch.sees(2, low(700, HERE));
    for _ in 0..10 {
        switch.forward(1, wants(500));
        switch.wait(Time::from_ms(2));
    }
    assert_eq!((switch.high(), switch.said()), (vec![1], vec![]), "it lives");
    switch.wait(Time::from_ms(4));
    assert_eq!(switch.high(), [1]);
    switch.wait(Time::from_ms(2));
    assert_eq!((switch.high(), switch.said()), (vec![2], vec![(2, Tp::HIGH)]));
}

#[test]
fn dead_flows_are_all_found_in_the_end() {
    // IV-B: "a dead flow will be eventually detected by the controller when trying to promote it
    // to the HIGH queue".
    let mut switch = Switch::new(&[]);
    for flow in 0..5 {
        switch.sees(flow, wants(100));
    }
    switch.wait(Time::from_ms(100));
    assert!(switch.controller.table().entries().is_empty());
    assert_eq!(switch.controller.deadline(), Time::MAX, "nothing is left to do");
}

#[test]
fn a_low_flow_that_is_never_heard_of_is_forgotten() {
    // IV-B: "or be removed after a long timeout".
    let mut switch = Switch::new(&[("flow_timeout", "50ms")]);
    switch.sees(1, wants(500));
    switch.sees(2, low(700, HERE));
    for _ in 0..60 {
        switch.forward(1, wants(500));
        switch.wait(Time::from_ms(1));
    }
    assert_eq!(switch.controller.table().entries().len(), 1);
}

#[test]
fn messages_without_an_answer_are_sent_again() {
    // IV-B: the marked packet after a message "is equivalent to send an acknowledgment".
    let mut switch = Switch::new(&[("counter_interval", "2ms"), ("counter_reads", "100")]);
    switch.sees(1, wants(500));
    assert_eq!(switch.sees(2, wants(700)), [(2, Tp::LOW)]);
    switch.wait(Time::from_ms(7));
    assert_eq!(switch.said(), [(2, Tp::LOW); 2], "with the readings at 4 ms and 6 ms");
    switch.sees(2, low(700, HERE));
    switch.wait(Time::from_ms(7));
    assert_eq!(switch.said(), []);
}

#[test]
fn a_controller_that_restarts_learns_flows_from_their_probes() {
    // IV-B: "it forgets all its current flow information".
    let mut switch = Switch::new(&[]);
    switch.sees(1, wants(500));
    switch.sees(2, wants(700));
    switch.controller.restart();
    assert_eq!((switch.high(), switch.controller.deadline()), (vec![], Time::MAX));
    switch.said();
    assert_eq!(switch.sees(2, low(700, HERE)), [(2, Tp::HIGH)]);
}

proptest! {
    /// IV-A. The HIGH flows fit the link whatever headers say, and however often the controller
    /// restarts.
    #[test]
    fn what_is_high_never_sums_to_more_than_the_link(
        steps in prop::collection::vec((0u32..8, 0u64..4, 1u64..130, 0u8..4, 0u8..12), 1..120),
    ) {
        let mut switch = Switch::new(&[]);
        for (flow, dp, gbps, dsid, step) in steps {
            let br = Br::of_link(Rate::from_gbps(gbps));
            let header = EpnHeader { br, dsid: if dsid == 0 { 0 } else { 60 + dsid }, ..wants(dp) };
            match step {
                0 => switch.controller.restart(),
                1 => switch.wait(Time::from_ms(3)),
                2 => drop(switch.sees(flow, EpnHeader { dp: Dp::END, ..header })),
                3..6 => drop(switch.sees(flow, EpnHeader { tp: Tp::LOW, ..header })),
                _ => drop(switch.sees(flow, header)),
            }
            let high = switch.controller.table().high();
            let sum: u32 = high.iter().map(|entry| entry.rate).sum();
            prop_assert!(u64::from(sum) <= LINK, "{high:?}");
        }
    }
}
