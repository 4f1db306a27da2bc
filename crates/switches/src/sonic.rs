//! SONiC: tables of `config_db.json`, to be loaded with `config load`.

use serde_json::{Map, Value, json};

use crate::request::Request;

const NAME: &str = "PIAS";

pub(crate) fn print(request: &Request) -> String {
    let to_class: Map<String, Value> = request
        .all_code_points()
        .map(|(dscp, queue)| (dscp.to_string(), json!(queue.to_string())))
        .collect();
    let queues = 0..request.levels.count();
    let to_queue: Map<String, Value> =
        queues.clone().map(|queue| (queue.to_string(), json!(queue.to_string()))).collect();
    let mut queue_table = Map::new();
    let mut buffer_table = Map::new();
    for port in &request.ports {
        for queue in queues.clone() {
            let entry = json!({"scheduler": "PIAS_STRICT", "wred_profile": NAME});
            queue_table.insert(format!("{port}|{queue}"), entry);
        }
        let range = format!("{port}|0-{}", request.levels.count() - 1);
        buffer_table.insert(range, json!({"profile": "pias_lossy_profile"}));
    }
    let of_ports: Map<String, Value> = request
        .ports
        .iter()
        .map(|port| (port.clone(), json!({"dscp_to_tc_map": NAME, "tc_to_queue_map": NAME})))
        .collect();
    let mark_at = request.mark_at.get().to_string();
    let mut wred = Map::new();
    wred.insert("ecn".into(), json!("ecn_all"));
    for colour in ["green", "yellow", "red"] {
        wred.insert(format!("wred_{colour}_enable"), json!("true"));
        wred.insert(format!("{colour}_min_threshold"), json!(mark_at));
        wred.insert(format!("{colour}_max_threshold"), json!(mark_at));
        wred.insert(format!("{colour}_drop_probability"), json!("100"));
    }
    let config = json!({
        "DSCP_TO_TC_MAP": {NAME: to_class},
        "TC_TO_QUEUE_MAP": {NAME: to_queue},
        "SCHEDULER": {"PIAS_STRICT": {"type": "STRICT"}},
        "WRED_PROFILE": {NAME: wred},
        "QUEUE": queue_table,
        "PORT_QOS_MAP": of_ports,
        "BUFFER_PROFILE": {
            "pias_lossy_profile": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "0"}
        },
        "BUFFER_QUEUE": buffer_table,
    });
    serde_json::to_string_pretty(&config).unwrap_or_default() + "\n"
}

/// The map from code points to classes that the first port with a map uses.
pub(crate) fn read(text: &str) -> Vec<(u8, String)> {
    let Ok(config) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let used = config["PORT_QOS_MAP"]
        .as_object()
        .and_then(|ports| ports.values().find_map(|port| port["dscp_to_tc_map"].as_str()));
    let Some(map) = used.and_then(|name| config["DSCP_TO_TC_MAP"][name].as_object()) else {
        return Vec::new();
    };
    let entry =
        |(dscp, class): (&String, &Value)| Some((dscp.parse().ok()?, class.as_str()?.into()));
    map.iter().filter_map(entry).collect()
}

pub(crate) fn marks(text: &str) -> Vec<u64> {
    let Ok(config) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let profiles = config["WRED_PROFILE"].as_object().into_iter().flatten();
    profiles.filter_map(|(_, one)| one["green_min_threshold"].as_str()?.parse().ok()).collect()
}
