//! Counters, limits and formulas against published definitions and recorded hardware runs.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};

use perfxpert_knowledge::counters::{self, Column, Combine, LimitsSource, Unit};
use perfxpert_knowledge::{arch, collect, formulas};

fn column(gfx: &str) -> Column {
    Column::of(gfx).unwrap().column
}

fn cost(name: &str, gfx: &str) -> Vec<(&'static str, u32)> {
    counters::resolve(name).unwrap().cost(column(gfx)).into_iter().collect()
}

#[test]
fn the_catalogue_is_complete() {
    assert_eq!(counters::raw().len(), 486);
    let mut blocks: BTreeMap<&str, usize> = BTreeMap::new();
    for counter in counters::raw() {
        *blocks.entry(&counter.block).or_default() += 1;
        assert!(counter.events.iter().any(Option::is_some), "{}", counter.name);
    }
    let expected = [
        ("CPC", 28),
        ("CPF", 7),
        ("GL2C", 13),
        ("GRBM", 12),
        ("SPI", 81),
        ("SQ", 151),
        ("TA", 24),
        ("TCA", 2),
        ("TCC", 94),
        ("TCP", 65),
        ("TD", 9),
    ];
    assert_eq!(blocks.into_iter().collect::<Vec<_>>(), expected);
    let names = counters::names();
    assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "names are unique");
    // Two counters differ only by case.
    assert!(counters::resolve("LDSBankConflict").is_some() && counters::resolve("LdsBankConflict").is_some());
    for counter in counters::derived() {
        let mut arches = BTreeSet::new();
        for variant in &counter.variants {
            assert!(variant.arches.iter().all(|arch| arches.insert(arch)), "{} twice", counter.name);
        }
    }
    // A derived counter's events all exist where it does.
    for counter in counters::derived() {
        let found = counters::resolve(&counter.name).unwrap();
        for column in Column::ALL {
            if let Some(variant) = found.variant(column) {
                let events = found.events(column);
                assert_eq!(events.len(), variant.events.len(), "{} {column:?}", counter.name);
                for event in events {
                    assert!(
                        counters::resolve(&event.name).unwrap().available(column),
                        "{} {}",
                        counter.name,
                        event.name
                    );
                }
            }
        }
    }
}

#[test]
fn select_values_per_architecture() {
    let events = |name: &str| counters::raw().iter().find(|counter| counter.name == name).unwrap().events;
    assert_eq!(events("SQ_WAVE_CYCLES"), [47, 74, 79, 95, 26, 24, 24].map(Some));
    assert_eq!(events("TCC_HIT"), [Some(17), Some(17), Some(17), Some(21), None, None, None]);
    assert_eq!(events("GL2C_HIT"), [None, None, None, None, Some(42), Some(42), Some(41)]);
    assert_eq!(events("SPI_CSQ_P3_Q7_OCCUPANCY")[3], Some(171));
    assert_eq!(events("SQ_INSTS_VALU_MFMA_MOPS_F8"), [None, None, Some(55), Some(56), None, None, None]);
}

#[test]
fn look_ups() {
    let waves = counters::resolve("SQ_WAVES").unwrap();
    assert_eq!((waves.block(None), waves.unit()), ("SQ", Unit::Count));
    assert_eq!(waves.available_on(), arch::KNOWN);
    let hit = counters::resolve("TCC_HIT_sum").unwrap();
    assert_eq!((hit.block(None), hit.available(column("gfx1100"))), ("TCC", false));
    assert_eq!(counters::alternatives("TCC_HIT_sum", column("gfx1100")), ["GL2C_HIT_sum"]);
    assert_eq!(counters::alternatives("TCC_EA_RDREQ_sum", column("gfx942")), ["TCC_EA0_RDREQ_sum"]);
    assert_eq!(
        counters::alternatives("WRITE_SIZE", column("gfx1201")),
        ["GL2C_EA_WRREQ_sum", "GL2C_EA_WRREQ_64B_sum"]
    );
    assert_eq!(counters::resolve("TCC_HIT[3]").unwrap().instance, Some(3));
    for unknown in
        ["SQ_INSTS_VALU_MFMA", "DEFINITELY_NOT_A_COUNTER", "sq_waves", "TCC_HIT[x]", "TCC_HIT[1", "", "_sum"]
    {
        assert!(counters::resolve(unknown).is_none(), "{unknown}");
    }
    for (wrong, right) in [
        ("SQ_INSTS_VALU_MFMA", "SQ_INSTS_MFMA"),
        ("TCP_TCC_HIT_sum", "TCC_HIT_sum"),
        ("TCP_TCC_MISS_sum", "TCC_MISS_sum"),
    ] {
        assert!(counters::resolve(wrong).is_none());
        assert_eq!(counters::alias(wrong), Some(right));
        assert!(counters::resolve(right).is_some());
    }
    assert_eq!(counters::resolve("SQC_LDS_BANK_CONFLICT").unwrap().block(None), "SQ");
    let fetch = counters::resolve("FETCH_SIZE").unwrap();
    assert_eq!(fetch.block(Some(column("gfx942"))), "TCC");
    assert_eq!(fetch.block(Some(column("gfx1100"))), "GL2C");
    assert_eq!(fetch.unit(), Unit::KiB);
    assert_eq!(counters::caveats("SQ_WAVES", None), ["launch total, not a concurrency level"]);
    assert_eq!(counters::caveats("FETCH_SIZE", Some("gfx942")), Vec::<&str>::new());
    assert_eq!(counters::caveats("FETCH_SIZE", Some("gfx950")).len(), 1);
}

#[test]
fn memory_size_counters_cost_what_the_hardware_needs() {
    assert_eq!(cost("FETCH_SIZE", "gfx942"), [("TCC", 3)]);
    assert_eq!(cost("WRITE_SIZE", "gfx942"), [("TCC", 2)]);
    assert_eq!(cost("FETCH_SIZE", "gfx950"), [("TCC", 3)]);
    assert_eq!(cost("FETCH_SIZE", "gfx90a"), [("TCC", 2)]);
    assert_eq!(cost("WRITE_SIZE", "gfx90a"), [("TCC", 2)]);
    assert_eq!(cost("FETCH_SIZE", "gfx908"), [("TCC", 2)]);
    assert_eq!(cost("FETCH_SIZE", "gfx1100"), [("GL2C", 4)]);
    assert_eq!(cost("WRITE_SIZE", "gfx1100"), [("GL2C", 2)]);
    assert_eq!(cost("FETCH_SIZE", "gfx1201"), [("GL2C", 3)]);
    assert!(!counters::resolve("WRITE_SIZE").unwrap().available(column("gfx1201")));
    // The clock of the pipe is no input of either.
    let fetch = counters::resolve("FETCH_SIZE").unwrap();
    assert!(fetch.events(column("gfx942")).iter().all(|event| event.block == "TCC"));
    // Level counter and accumulator.
    let mean = counters::resolve("MeanOccupancyPerCU").unwrap();
    assert_eq!(mean.accumulates(column("gfx942")), Some("SQ_LEVEL_WAVES"));
    assert_eq!(cost("MeanOccupancyPerCU", "gfx942"), [("GRBM", 1), ("SQ", 2)]);
    assert_eq!(cost("SIMD_NUM", "gfx942"), []);
}

#[test]
fn limits_per_block_and_family() {
    for gfx in ["gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"] {
        let column = column(gfx);
        let expected = [
            ("SQ", 8),
            ("GRBM", 2),
            ("CPC", 2),
            ("CPF", 2),
            ("TA", 2),
            ("TD", 2),
            ("TCP", 4),
            ("TCC", 4),
            ("TCA", 4),
            ("SPI", 6),
            ("GDS", 4),
            ("GCEA", 2),
            ("XYZ", 4),
        ];
        for (block, limit) in expected {
            assert_eq!(column.limit(block), limit, "{gfx} {block}");
        }
    }
    for (gfx, sq, tcp, gl2c) in
        [("gfx1030", 8, 4, 4), ("gfx1151", 8, 4, 4), ("gfx1100", 8, 4, 4), ("gfx1200", 16, 4, 4)]
    {
        let column = column(gfx);
        assert_eq!((column.limit("SQ"), column.limit("TCP"), column.limit("GL2C")), (sq, tcp, gl2c), "{gfx}");
        assert_eq!((column.limit("GRBM"), column.limit("SPI"), column.limit("GCEA")), (2, 6, 2), "{gfx}");
    }
    let source = |gfx: &str| Column::of(gfx).map(|of| of.source);
    for own in ["gfx942", "gfx940", "gfx941", "gfx1031", "gfx1032", "gfx1151", "GFX90A:xnack-"] {
        assert_eq!(source(own), Some(LimitsSource::Arch), "{own}");
    }
    for family in ["gfx906", "gfx1010", "gfx1103", "gfx1250"] {
        assert_eq!(source(family), Some(LimitsSource::Family), "{family}");
    }
    for none in ["gfx7000", "gfx803", "gfx9-4-generic", "", "gfx101"] {
        assert_eq!(source(none), None, "{none}");
    }
}

#[test]
fn every_counter_set_exists_and_fits_its_pass() {
    let sets = collect::counter_sets();
    for gfx in arch::KNOWN {
        let column = column(gfx);
        for (name, set) in [
            ("classify", &sets.classify),
            ("fetch", &sets.fetch),
            ("write", &sets.write),
            ("typed", &sets.typed_operations),
        ] {
            for pass in collect::passes(set, Some(gfx)) {
                let mut used: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
                for counter in pass {
                    let found = counters::resolve(counter).unwrap_or_else(|| panic!("{counter}"));
                    assert!(found.available(column), "{gfx} {name} {counter}");
                    for event in found.events(column) {
                        used.entry(&event.block).or_default().insert(&event.name);
                    }
                }
                for (block, events) in used {
                    assert!(events.len() <= column.limit(block) as usize, "{gfx} {name} {block}");
                }
            }
        }
    }
}

#[test]
fn instances_combine_as_the_hardware_counts() {
    for (name, how) in [
        ("SQ_WAVES", Combine::Sum),
        ("TCC_HIT", Combine::Sum),
        ("GRBM_COUNT", Combine::Max),
        ("GRBM_GUI_ACTIVE", Combine::Max),
        ("GRBM_GUI_ACTIVE_sum", Combine::Sum),
        ("TA_TA_BUSY_max", Combine::Max),
        ("TCC_HIT_sum", Combine::Sum),
        ("FETCH_SIZE", Combine::Sum),
        ("MfmaUtil", Combine::Mean),
        ("MY_COUNTER", Combine::Sum),
        ("TA_TA_BUSY_avr", Combine::Mean),
    ] {
        assert_eq!(counters::combine(name), how, "{name}");
    }
}

// vecCopy of 1,048,576 doubles recorded on an MI300X: 8 MiB read, 8 MiB written.
fn vec_copy(name: &str) -> Option<f64> {
    Some(match name {
        "TCC_EA0_RDREQ" => 65_767.0,
        "TCC_BUBBLE" => 65_536.0,
        "TCC_EA0_RDREQ_32B" => 0.0,
        "TCC_EA0_WRREQ" | "TCC_EA0_WRREQ_64B" => 131_072.0,
        "TCC_HIT" => 66_160.0,
        "TCC_MISS" => 131_309.0,
        "TCP_TOTAL_CACHE_ACCESSES" => 524_288.0,
        "TCP_TCC_READ_REQ" => 65_536.0,
        "TCP_TCC_WRITE_REQ" => 131_072.0,
        "TCP_TCC_ATOMIC_WITH_RET_REQ" | "TCP_TCC_ATOMIC_WITHOUT_RET_REQ" => 0.0,
        _ => return None,
    })
}

#[test]
fn formulas_reproduce_a_recorded_run() {
    let value = |metric: &str| formulas::evaluate(metric, "gfx942", &vec_copy).unwrap().value.unwrap();
    assert_eq!((value("hbm_read_bytes") / 1024.0).floor(), 8206.0);
    assert_eq!(value("hbm_write_bytes") / 1024.0, 8192.0);
    assert!((value("l2_hit") - 0.335).abs() < 0.001);
    assert_eq!(value("l1_hit"), 0.625);
    // The mistaken formula, 32 bytes per request, would give a quarter.
    assert!(value("hbm_read_bytes") > 3.9 * 32.0 * 65_767.0);
}

#[test]
fn gfx950_reads_are_counted_by_size() {
    let counted = |name: &str| match name {
        "TCC_EA0_RDREQ" | "TCC_EA0_RDREQ_128B" => Some(65_640.0),
        "TCC_EA0_RDREQ_32B" | "TCC_EA0_RDREQ_64B" | "TCC_BUBBLE" => Some(0.0),
        "FETCH_SIZE" => Some(4102.5),
        _ => None,
    };
    let read = formulas::evaluate("hbm_read_bytes", "gfx950", &counted).unwrap();
    assert_eq!(read.value, Some(65_640.0 * 128.0));
    let only_size = |name: &str| (name == "FETCH_SIZE").then_some(4102.5);
    let read = formulas::evaluate("hbm_read_bytes", "gfx950", &only_size).unwrap();
    assert!(read.formula.row.note.as_deref().unwrap().contains("half"));
}

#[test]
fn formulas_say_what_they_lack() {
    let none = |_: &str| None;
    assert_eq!(formulas::evaluate("l2_hit", "gfx942", &none).unwrap_err(), ["TCC_HIT", "TCC_MISS"]);
    assert!(formulas::evaluate("mfma_util", "gfx1100", &none).unwrap_err().is_empty());
    let zero = |_: &str| Some(0.0);
    assert_eq!(formulas::evaluate("l2_hit", "gfx942", &zero).unwrap().value, None);
    let summed = |name: &str| name.ends_with("_sum").then_some(1.0);
    assert_eq!(formulas::evaluate("l2_hit", "gfx942", &summed).unwrap().value, Some(0.5));
    // Matrix utilisation needs a busy counter that gfx908 lacks.
    assert!(formulas::of("mfma_util", "gfx908").is_empty());
    assert_eq!(formulas::of("waves_per_cu", "gfx1201").len(), 1);
}

#[test]
fn quad_cycles_are_scaled_on_gfx9_only() {
    let values = |name: &str| {
        Some(match name {
            "SQ_WAVE_CYCLES" => 1_000.0,
            "CUS" => 10.0,
            "CYCLES" => 50.0,
            _ => return None,
        })
    };
    let waves = |gfx: &str| formulas::evaluate("waves_per_cu", gfx, &values).unwrap().value;
    assert_eq!(waves("gfx942"), Some(8.0));
    assert_eq!(waves("gfx1100"), Some(2.0));
}

#[test]
fn every_formula_names_counters_its_architectures_have() {
    for formula in formulas::all() {
        for gfx in &formula.row.arches {
            let column = column(gfx);
            for name in formula.counters() {
                let found =
                    counters::resolve(name).unwrap_or_else(|| panic!("{} {name}", formula.row.metric));
                assert!(found.available(column), "{} {gfx} {name}", formula.row.metric);
            }
        }
    }
    let typed = formulas::of("vector_fp32_flops", "gfx942");
    let values = |name: &str| {
        Some(match name {
            "SQ_INSTS_VALU_FMA_F32" => 1_000_000.0,
            "SQ_INSTS_VALU_ADD_F32" => 200_000.0,
            "SQ_INSTS_VALU_MUL_F32" => 100_000.0,
            "SQ_INSTS_VALU_TRANS_F32" => 0.0,
            _ => return None,
        })
    };
    assert_eq!(typed[0].evaluate(&values), Ok(Some(147_200_000.0)));
}

#[test]
fn expressions_are_arithmetic() {
    use formulas::Expression;
    let value = |text: &str| Expression::parse(text).unwrap().evaluate(&|name| (name == "x").then_some(3.0));
    for (text, expected) in [
        ("1+2*3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("8 / 2 / 2", 2.0),
        ("10 - 2 - 3", 5.0),
        ("2 * x", 6.0),
        ("0.5 * (x - 1)", 1.0),
    ] {
        assert_eq!(value(text), Some(expected), "{text}");
    }
    assert_eq!(value("1 / 0"), None);
    assert_eq!(value("y"), None);
    for broken in ["", "1 +", "(1", "1)", "* 2", "1 2", "x y", "1 # 2", "1..2", "()"] {
        assert!(Expression::parse(broken).is_err(), "{broken}");
    }
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(value(&deep), Some(1.0));
}
