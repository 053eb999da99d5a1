//! Logs as the two tools write them, and as they break.

use super::*;

fn amd(text: &str) -> Log {
    read(text.as_bytes(), Source::AmdSmi).unwrap()
}

#[test]
fn values_mean_the_same_in_every_spelling() {
    for power in [
        "120",
        "\"120 W\"",
        "{\"value\":120,\"unit\":\"W\"}",
        "\"120000 mW\"",
        "{\"value\":\"120\",\"unit\":\"W\"}",
    ] {
        let log = amd(&format!("[{{\"gpu\":0,\"power\":{power}}}]"));
        assert_eq!(log.samples[0].power_w, Some(120.0), "{power}");
    }
    for nothing in ["\"N/A\"", "\"\"", "null", "[]", "{\"value\":\"N/A\"}"] {
        assert_eq!(
            amd(&format!("[{{\"gpu\":0,\"power\":{nothing}}}]")).samples[0].power_w,
            None,
            "{nothing}"
        );
    }
}

#[test]
fn banners_and_several_documents_are_read_until_the_cut() {
    let log = amd(
        "WARNING: old driver\n[{\"gpu\":0,\"temp\":50}]\n[{\"gpu\":0,\"temp\":60},{\"gpu\":1,\"temp\":61}] [{\"gpu\":0,\"te",
    );
    let temps: Vec<_> = log.samples.iter().map(|sample| (sample.gpu_id, sample.edge_c.unwrap())).collect();
    assert_eq!(temps, [(0, 50.0), (0, 60.0), (1, 61.0)]);
    assert!(log.cut_off);
    let quoted = amd("[{\"gpu\":0,\"note\":\"]}, \\\" [\",\"temp\":50}]");
    assert_eq!((quoted.samples.len(), quoted.cut_off), (1, false));
}

#[test]
fn broken_first_documents_are_unreadable() {
    let fails = |text: &str| read(text.as_bytes(), Source::AmdSmi).unwrap_err();
    assert_eq!(fails("no json here"), Unreadable::NoJson);
    assert_eq!(fails(""), Unreadable::NoJson);
    assert_eq!(fails("[{\"gpu\":0"), Unreadable::Broken(9));
    assert_eq!(fails("x [1,]"), Unreadable::Broken(5));
    assert_eq!(fails("{nope}"), Unreadable::Broken(0));
    assert!(matches!(fails(&"[".repeat(100_000)), Unreadable::Broken(_)));
}

#[test]
fn every_shape_of_amd_smi_is_read() {
    for text in [
        "[{\"gpu\":2,\"temp\":50}]",
        "{\"gpu_data\":[{\"gpu\":2,\"temp\":50}]}",
        "{\"gpus\":[{\"gpu_id\":2,\"temp\":50}]}",
        "{\"gpu\":{\"id\":2,\"temp\":50}}",
        "{\"gpu\":\"2\",\"temp\":50}",
        "[[{\"gpu\":2,\"temp\":50}]]",
        "[{\"gpu_data\":[{\"gpu\":2,\"temp\":50}]}]",
    ] {
        let log = amd(text);
        assert_eq!(
            (log.samples.len(), log.samples[0].gpu_id, log.samples[0].edge_c),
            (1, 2, Some(50.0)),
            "{text}"
        );
    }
    assert_eq!(amd("{}"), Log::default());
    assert_eq!(amd("[{\"gpu\":\"all\",\"temp\":50}]").bad_gpu_ids, 1);
}

#[test]
fn clocks_and_throttling_follow_the_dies() {
    let log = amd(
        "[{\"gpu\":0,\"clock\":{\"gfx_0\":{\"clk\":{\"value\":1200,\"unit\":\"MHz\"}},\"gfx_1\":{\"clk\":\"1.3 GHz\"},\"mem_0\":{\"clk\":900}},\
         \"throttle\":{\"a_violation_status\":\"NOT ACTIVE\",\"b_violation_status\":\"ACTIVE\"}}]",
    );
    let sample = log.samples[0];
    assert_eq!(
        (sample.core_mhz, sample.memory_mhz, sample.throttled),
        (Some(1300.0), Some(900.0), Some(true))
    );
    let calm = amd("[{\"gpu\":0,\"throttle\":{\"a_violation_status\":\"NOT ACTIVE\"}}]").samples[0];
    assert_eq!(calm.throttled, Some(false));
    let told = amd("[{\"gpu\":0,\"power\":{\"throttle_status\":\"UNTHROTTLED\"}}]").samples[0];
    assert_eq!(told.throttled, Some(false));
    assert_eq!(amd("[{\"gpu\":0,\"throttle\":{\"a_violation_status\":\"N/A\"}}]").samples[0].throttled, None);
}

#[test]
fn rocm_clocks_are_not_levels() {
    let clock = |key: &str, value: &str| {
        let text = format!("{{\"card0\":{{\"{key}\":\"{value}\"}},\"system\":{{\"x\":1}}}}");
        read(text.as_bytes(), Source::RocmSmi).unwrap().samples[0].core_mhz
    };
    assert_eq!(clock("sclk clock speed:", "(300Mhz)"), Some(300.0));
    assert_eq!(clock("sclk clock level", "0 (1502Mhz)"), Some(1502.0));
    assert_eq!(clock("sclk clock level:", "1"), None);
    assert_eq!(clock("SCLK", "1700 MHz"), Some(1700.0));
    assert_eq!(source(b"{\"card0\":{}}"), Ok(Source::RocmSmi));
    assert_eq!(source(b"[{\"gpu\":0}]"), Ok(Source::AmdSmi));
    let odd = read(b"{\"cardX\":{\"GPU use (%)\":\"5\"}}", Source::RocmSmi).unwrap();
    assert_eq!((odd.samples.len(), odd.bad_gpu_ids), (0, 1));
}
