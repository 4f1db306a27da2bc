use super::*;

const FILE: &str = r#"
thresholds = "20KB 100KB"
link-rate = "10Gbps"
listen = "127.0.0.1:9489"
[tls]
ca = "ca.crt"
certificate = "c.crt"
key = "c.key"
[groups.default]
agents = ["http://127.0.0.1:9487"]
"#;

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(text, Path::new("controller.toml")).map_err(|error| error.to_string())
}

#[test]
fn the_smallest_file_has_the_papers_defaults() {
    let config = parse(FILE).unwrap();
    assert_eq!(config.levels.dscp, [48, 32, 0]);
    assert_eq!(config.guard.improvement, 0.02);
    assert_eq!(config.guard.interval, Duration::from_secs(3600));
    assert_eq!(config.collect.windows, 24);
    assert_eq!(config.groups["default"].link_rate, Rate::from_gbps(10));
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_do() {
    let change = |from: &str, to: &str| parse(&FILE.replace(from, to)).unwrap_err();
    assert!(change("listen = \"127.0.0.1:9489\"\n", "").contains("set `listen`"));
    assert!(
        change("20KB 100KB", "100KB 20KB").starts_with("`thresholds` cannot be 20KB after 100KB")
    );
    assert!(
        change("link-rate = \"10Gbps\"\n", "").contains("`groups.default.link-rate` is missing")
    );
    assert!(change("http://127.0.0.1:9487", "host7").contains("groups.default.agents"));
    assert!(change("[groups.default]", "[groups.\"../x\"]").starts_with("`groups` cannot be"));
    assert!(
        change("[tls]", "[decide]\nimprovement = 2.0\n[tls]").starts_with("`decide.improvement`")
    );
    assert!(change("[tls]", "[canary]\nshare = 0.0\n[tls]").starts_with("`canary.share`"));
    assert!(change("[tls]", "[collect]\nevery = \"0s\"\n[tls]").starts_with("`collect.every`"));
    for (table, key, time) in [
        ("collect", "every", "1ps"),
        ("collect", "window", "999ms"),
        ("decide", "interval", "999ms"),
        ("canary", "time", "0.5s"),
    ] {
        let refused = change("[tls]", &format!("[{table}]\n{key} = \"{time}\"\n[tls]"));
        assert!(refused.starts_with(&format!("`{table}.{key}`")), "{refused}");
    }
    let token = change("[tls]", "[collect]\nbearer-token-file = \"/token\"\n[tls]");
    assert!(token.contains("in clear text"), "{token}");
    assert!(change("[tls]", "[desire]\n[tls]").contains("unknown field `desire`"));
    let many = (0..1001).map(|n| format!("\"http://h{n}:1\"")).collect::<Vec<_>>().join(", ");
    assert!(change("\"http://127.0.0.1:9487\"", &many).contains("collect.prometheus"));
}
