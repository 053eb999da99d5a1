//! Agents: the numbers in their JSON, and which rows of several processes are the same physical device.

use serde_json::Value as Json;

use crate::model::{AgentProperties, IoLink};

/// Links kept per agent.
const MAX_LINKS: usize = 64;

/// Reads the JSON a writer stored with an agent. Anything unreadable (compressed, cut) gives no properties.
pub(super) fn properties(text: &str) -> (AgentProperties, Option<String>) {
    let Ok(json) = serde_json::from_str::<Json>(text) else { return Default::default() };
    let number = |key: &str| json.get(key).and_then(Json::as_u64).filter(|value| *value > 0);
    let small = |key: &str| number(key).and_then(|value| u32::try_from(value).ok());
    let list = |key: &str| json.get(key).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let bank = list("mem_banks").first();
    let of_bank =
        |key: &str| bank.and_then(|bank| bank.get(key)).and_then(Json::as_u64).filter(|value| *value > 0);
    // Cache sizes are KiB per instance.
    let cache = |level: u64| {
        let kib: u64 = list("caches")
            .iter()
            .filter(|cache| cache.get("level").and_then(Json::as_u64) == Some(level))
            .filter_map(|cache| cache.get("size").and_then(Json::as_u64))
            .fold(0, u64::saturating_add);
        (kib > 0).then(|| kib.saturating_mul(1024))
    };
    let banks: u64 = list("mem_banks")
        .iter()
        .filter_map(|bank| bank.get("size_in_bytes").and_then(Json::as_u64))
        .fold(0, u64::saturating_add);
    let signed = |link: &Json, key: &str| link.get(key).and_then(Json::as_i64).unwrap_or(0);
    let links = list("io_links")
        .iter()
        .take(MAX_LINKS)
        .map(|link| IoLink {
            to_node: signed(link, "node_to"),
            kind: signed(link, "type"),
            min_bandwidth_mbps: signed(link, "min_bandwidth"),
            max_bandwidth_mbps: signed(link, "max_bandwidth"),
        })
        .collect();
    let uuid =
        json.get("uuid").and_then(|uuid| uuid.get("bytes")).and_then(Json::as_array).and_then(|bytes| {
            let bytes: Vec<u8> = bytes
                .iter()
                .filter_map(|byte| byte.as_u64().and_then(|byte| u8::try_from(byte).ok()))
                .collect();
            <[u8; 16]>::try_from(bytes).ok().filter(|bytes| bytes.iter().any(|byte| *byte != 0))
        });
    let name = json.get("name").and_then(Json::as_str).map(str::to_owned);
    let found = AgentProperties {
        cu_count: small("cu_count"),
        simd_count: small("simd_count"),
        simd_per_cu: small("simd_per_cu"),
        max_waves_per_simd: small("max_waves_per_simd"),
        max_waves_per_cu: small("max_waves_per_cu"),
        wave_front_size: small("wave_front_size"),
        lds_kib: small("lds_size_in_kb"),
        xcc_count: small("num_xcc"),
        shader_engines: small("num_shader_banks"),
        max_engine_clock_mhz: small("max_engine_clk_fcompute"),
        gfx_target_version: small("gfx_target_version"),
        vendor_id: small("vendor_id"),
        device_id: small("device_id"),
        domain: json.get("domain").and_then(Json::as_u64).and_then(|value| u32::try_from(value).ok()),
        location_id: small("location_id"),
        memory_bytes: number("local_mem_size").or((banks > 0).then_some(banks)),
        memory_clock_mhz: of_bank("mem_clk_max").and_then(|value| u32::try_from(value).ok()),
        memory_width_bits: of_bank("width").and_then(|value| u32::try_from(value).ok()),
        l2_bytes: cache(2),
        l3_bytes: cache(3),
        sdma_engines: small("num_sdma_engines"),
        uuid,
        links,
    };
    (found, name)
}

/// What two rows of the same physical device of one machine have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum DeviceKey {
    Uuid([u8; 16], i64),
    Location(u32, u32, i64),
    Index(i64),
}

impl DeviceKey {
    /// Partitions of one device share ids and locations, so the node id is always part of the key.
    pub(super) fn of(properties: &AgentProperties, absolute_index: i64) -> Self {
        match (properties.uuid, properties.location_id) {
            (Some(uuid), _) => Self::Uuid(uuid, absolute_index),
            (None, Some(location)) => {
                Self::Location(properties.domain.unwrap_or(0), location, absolute_index)
            }
            (None, None) => Self::Index(absolute_index),
        }
    }
}
