//! `flowsched traffic`: what a client says, and what it does not know.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::common::Place;

/// A server on a free port, which ends when this is dropped.
struct Server(Child, u16);

impl Server {
    fn start(place: &Place) -> Server {
        let port = free_port();
        let listen = format!("127.0.0.1:{port}");
        let mut command = place.command(&["traffic", "server", "--listen", &listen]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::yield_now();
        }
        Server(child, port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

fn config(place: &Place, port: u16) {
    let text = format!("server 127.0.0.1 {port}\nreq_size_dist fixed 10KB\n");
    place.write("client.txt", &text);
}

const CLIENT: [&str; 7] =
    ["traffic", "client", "client.txt", "--load", "100Mbps", "--requests", "20"];

#[test]
fn what_a_client_cannot_count_is_a_dash_and_null() {
    let place = Place::new();
    let server = Server::start(&place);
    config(&place, server.1);
    let done = place.flowsched(&[&CLIENT[..], &["--out", "one"]].concat());
    assert_eq!(done.status, Some(0), "{}", done.errors);
    let mut lines = done.output.lines().skip_while(|line| !line.contains("timeouts"));
    let row: Vec<&str> = lines.nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["traffic", "0", "-", "-", "-", "-"], "{}", done.output);
    let json =
        place.flowsched(&[&CLIENT[..], &["--out", "two", "--format", "json"]].concat()).json();
    for key in ["timeouts", "retransmissions", "drops", "ecn_marks"] {
        assert_eq!(json["runs"][0][key], Value::Null, "{key}");
    }
    let path = place.path("one").display().to_string();
    let twice = place.flowsched(&["report", "one", &path, "--out", "both"]);
    assert_eq!(twice.status, Some(2), "{}", twice.errors);
    assert!(twice.errors.contains("named twice"), "{}", twice.errors);
    let both = place.flowsched(&["report", "one", "two", "--out", "both"]);
    assert_eq!(both.status, Some(0), "{}", both.errors);
}

#[test]
fn a_load_of_zero_is_refused() {
    let place = Place::new();
    config(&place, 1);
    let arguments = ["traffic", "client", "client.txt", "--load", "0Mbps", "--requests", "1"];
    let done = place.flowsched(&arguments);
    assert_eq!(done.status, Some(2), "{}", done.errors);
    assert!(done.errors.contains("Use a rate above 0"), "{}", done.errors);
}

/// A server that accepts connections and closes them.
#[test]
fn traffic_of_which_nothing_comes_is_an_error() {
    let place = Place::new();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    config(&place, listener.local_addr().unwrap().port());
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let done = place.flowsched(&CLIENT);
    assert_eq!(done.status, Some(1), "{}", done.errors);
    assert!(done.errors.contains("none of the 20 flows finished"), "{}", done.errors);
}

#[test]
fn no_line_of_the_help_is_broken() {
    let help = Command::new(env!("CARGO_BIN_EXE_flowsched"))
        .args(["traffic", "client", "--help"])
        .output()
        .unwrap();
    let text = String::from_utf8(help.stdout).unwrap();
    let end = text.split("The file is that of").nth(1).unwrap();
    let lines: Vec<&str> = end.trim_end().lines().collect();
    let (_, whole) = lines.split_last().unwrap();
    assert!(whole.iter().all(|line| line.len() > 60), "{end}");
}
