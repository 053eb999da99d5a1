//! Each source read from text as the program prints it.

use super::*;

const ROCMINFO: &str = "\
ROCk module is loaded
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD EPYC 9654 96-Core Processor
  Marketing Name:          AMD EPYC 9654 96-Core Processor
  Device Type:             CPU
  Compute Unit:            96
*******
Agent 2
*******
  Name:                    gfx942
  Uuid:                    GPU-0123456789abcdef
  Marketing Name:          AMD Instinct MI300X
  Device Type:             GPU
  Compute Unit:            304
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-
*******
Agent 3
*******
  Name:                    gfx942
  Marketing Name:          AMD Instinct MI300X
  Device Type:             GPU
  Compute Unit:            304
*** Done ***
";

fn mi300x() -> Gpu {
    Gpu { gfx_id: Some("gfx942".to_owned()), product: Some("MI300X".to_owned()), cu_count: Some(304) }
}

#[test]
fn rocminfo_lists_agents_of_which_some_are_gpus() {
    assert_eq!(of_rocminfo(ROCMINFO), [mi300x(), mi300x()]);
    assert_eq!(of_rocminfo("ROCk module is NOT loaded, possibly no GPU devices\n"), []);
    assert_eq!(groups(&of_rocminfo(ROCMINFO)), [(2, mi300x())]);
    assert_eq!(shown(2, &mi300x()), "2 x gfx942 (MI300X, 304 CU)");
}

#[test]
fn rocm_smi_orders_its_cards_by_number() {
    let text = r#"{"card10": {"Card Series": "AMD Instinct MI210", "GFX Version": "gfx90a"},
                   "card2": {"Card series": "Instinct MI300X OAM", "GFX Version": "gfx942"},
                   "system": {"Driver version": "6.8.5"}}"#;
    let gpus = of_rocm_smi(text);
    assert_eq!(gpus.len(), 2);
    assert_eq!(gpus[0].product.as_deref(), Some("MI300X"));
    assert_eq!(gpus[1].gfx_id.as_deref(), Some("gfx90a"));
    assert_eq!(of_rocm_smi("WARNING: no GPU\n"), []);
}

#[test]
fn amd_smi_comes_as_a_list_or_inside_an_object() {
    let row = r#"{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X", "num_compute_units": 304, "target_graphics_version": "gfx942"}}"#;
    assert_eq!(of_amd_smi(&format!("[{row}]")), [mi300x()]);
    assert_eq!(of_amd_smi(&format!("{{\"gpu_data\": [{row}]}}")), [mi300x()]);
    let without = of_amd_smi(
        r#"[{"gpu": 0, "asic": {"market_name": "N/A", "num_compute_units": "N/A", "target_graphics_version": "gfx942"}}]"#,
    );
    assert_eq!(without, [Gpu { gfx_id: Some("gfx942".to_owned()), ..Gpu::default() }]);
}

#[test]
fn the_driver_numbers_architectures_in_decimal() {
    let folder = tempfile::tempdir().unwrap();
    for (node, version, simds) in [("0", 0, 0), ("1", 90_402, 1216), ("2", 90_010, 416), ("10", 110_000, 192)]
    {
        let node = folder.path().join(node);
        std::fs::create_dir(&node).unwrap();
        let text =
            format!("cpu_cores_count 0\nsimd_count {simds}\nsimd_per_cu 4\ngfx_target_version {version}\n");
        std::fs::write(node.join("properties"), text).unwrap();
    }
    let shown: Vec<String> = of_topology(folder.path()).iter().map(Gpu::shown).collect();
    assert_eq!(shown, ["gfx942 (304 CU)", "gfx90a (104 CU)", "gfx1100 (48 CU)"]);
    assert_eq!(of_topology(Path::new("/nonexistent")), []);
}

#[test]
fn the_first_source_wins_field_by_field() {
    let mut gpus = vec![Gpu { product: Some("MI300X".to_owned()), ..Gpu::default() }];
    merge(&mut gpus, vec![Gpu { product: Some("other".to_owned()), ..mi300x() }]);
    assert_eq!(gpus, [mi300x()]);
    merge(&mut gpus, vec![Gpu::default(), Gpu::default()]);
    assert_eq!(gpus, [mi300x()]);
}
