//! Links, stall reasons, flags, pragmas, intent rules, collection tables and commands, figure by figure.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use perfxpert_knowledge::commands::{self, CommandError, Opt, Target};
use perfxpert_knowledge::interconnect::{self, LinkKind};
use perfxpert_knowledge::{api, arch, att, clients, collect, compiler, intent};

type Row = (
    &'static str,
    [Option<f64>; 3],
    (&'static str, f64, f64),
    [Option<f64>; 4],
    &'static str,
    f64,
    &'static str,
);

#[test]
fn every_link_figure() {
    const NONE: [Option<f64>; 4] = [Some(0.0), Some(0.0), Some(0.0), Some(0.0)];
    let zero = [Some(0.0), Some(0.0), Some(0.0)];
    let rows: [Row; 12] = [
        (
            "gfx908",
            [Some(276.0), Some(3.0), Some(92.0)],
            ("Gen4 x16", 32.0, 31.5),
            [Some(3.0), Some(46.0), Some(138.0), Some(276.0)],
            "Device",
            180.0,
            "unverified",
        ),
        (
            "gfx90a",
            [Some(800.0), Some(8.0), Some(100.0)],
            ("Gen4 x16", 32.0, 31.5),
            [None, Some(50.0), None, None],
            "Package",
            200.0,
            "unverified",
        ),
        (
            "gfx942",
            [Some(1024.0), Some(8.0), Some(128.0)],
            ("Gen5 x16", 64.0, 63.0),
            [Some(7.0), Some(64.0), Some(448.0), Some(896.0)],
            "Device",
            340.0,
            "reported",
        ),
        (
            "gfx950",
            [Some(1075.2), Some(7.0), Some(153.6)],
            ("Gen5 x16", 64.0, 63.0),
            [Some(7.0), Some(76.8), Some(537.6), Some(1075.2)],
            "Device",
            650.0,
            "projected",
        ),
        ("gfx1030", zero, ("Gen4 x16", 32.0, 31.5), NONE, "Device", 24.0, "reported"),
        ("gfx1100", zero, ("Gen4 x16", 32.0, 31.5), NONE, "Device", 24.0, "reported"),
        ("gfx1101", zero, ("Gen4 x16", 32.0, 31.5), NONE, "Device", 24.0, "reported"),
        ("gfx1102", zero, ("Gen4 x8", 16.0, 15.8), NONE, "Device", 24.0, "reported"),
        ("gfx1200", zero, ("Gen5 x16", 64.0, 63.0), NONE, "Device", 24.0, "reported"),
        ("gfx1201", zero, ("Gen5 x16", 64.0, 63.0), NONE, "Device", 24.0, "reported"),
        ("connectx7", [None; 3], ("Gen5 x16", 64.0, 63.0), [None; 4], "Device", 50.0, "published"),
        ("connectx6", [None; 3], ("Gen4 x16", 32.0, 31.5), [None; 4], "Device", 25.0, "published"),
    ];
    assert_eq!(interconnect::all().len(), rows.len());
    for (id, xgmi, pcie, peer, scope, achievable, confidence) in rows {
        let row = interconnect::find(id).unwrap();
        assert_eq!([row.xgmi_peak_gbps, row.xgmi_links.map(f64::from), row.xgmi_per_link_gbps], xgmi, "{id}");
        assert_eq!((row.pcie_tier.as_str(), row.pcie_peak_gbps, row.pcie_payload_gbps), pcie, "{id}");
        let peers = [
            row.peer_links.map(f64::from),
            row.peer_per_link_one_way_gbps,
            row.peer_one_way_gbps,
            row.peer_both_ways_gbps,
        ];
        assert_eq!(peers, peer, "{id}");
        assert_eq!(format!("{:?}", row.scope), scope, "{id}");
        assert_eq!(row.achievable_gbps, achievable, "{id}");
        assert_eq!(row.achievable_confidence.as_str(), confidence, "{id}");
        assert_eq!(row.kind == LinkKind::Nic, id.starts_with("connect"), "{id}");
        assert_eq!(row.nic_line_rate_gbps, id.starts_with("connect").then_some(achievable), "{id}");
    }
    assert_eq!(interconnect::find(" ConnectX7 ").unwrap().id, "connectx7");
    assert_eq!(interconnect::find("GFX942:xnack-").unwrap().id, "gfx942");
    assert!(interconnect::find("gfx9999").is_none());
}

#[test]
fn link_peak_follows_the_mesh() {
    let peak = |id: &str, ranks| interconnect::find(id).unwrap().link_peak_gbps(ranks);
    assert_eq!(peak("gfx942", 4), Some(192.0));
    assert_eq!(peak("gfx942", 8), Some(448.0));
    assert_eq!(peak("gfx942", 16), None);
    assert_eq!(peak("gfx942", 1), None);
    assert_eq!(peak("gfx942", 0), None);
    assert_eq!(peak("gfx908", 4), Some(138.0));
    assert_eq!(peak("gfx908", 5), None);
    assert_eq!(peak("gfx90a", 2), None);
    assert_eq!(peak("connectx7", 64), Some(50.0));
}

#[test]
fn stall_reasons_are_the_sdk_s_and_eight_labels() {
    let codes: Vec<_> = att::stall_reasons().iter().map(|row| row.code.as_str()).collect();
    assert_eq!(codes.len(), 18);
    assert_eq!(
        codes[..10],
        [
            "NONE",
            "NO_INSTRUCTION_AVAILABLE",
            "ALU_DEPENDENCY",
            "WAITCNT",
            "INTERNAL_INSTRUCTION",
            "BARRIER_WAIT",
            "ARBITER_NOT_WIN",
            "ARBITER_WIN_EX_STALL",
            "OTHER_WAIT",
            "SLEEP_WAIT"
        ]
    );
    for (legacy, sdk, part) in [
        ("INTERLOCK_VMEM", "WAITCNT", "VMEM"),
        ("INTERLOCK_LDS", "WAITCNT", "LDS"),
        ("INTERLOCK_SMEM", "WAITCNT", "SMEM"),
        ("INTERLOCK_DEP", "ALU_DEPENDENCY", "dependency"),
        ("INTERLOCK_SALU", "ALU_DEPENDENCY", "SALU"),
        ("INTERLOCK_VALU", "ALU_DEPENDENCY", "VALU"),
        ("INTERLOCK_MATRIX", "ALU_DEPENDENCY", "matrix"),
        ("BARRIER", "BARRIER_WAIT", "barrier"),
    ] {
        let (row, target) = att::stall_reason(legacy).unwrap();
        assert_eq!(target.code, sdk, "{legacy}");
        assert!(row.name.contains(part), "{legacy}: {}", row.name);
    }
    for row in att::stall_reasons().iter().filter(|row| row.legacy_of.is_none()) {
        assert!((2..=5).contains(&row.mitigations.len()), "{}", row.code);
        assert!(row.root_cause.is_some() && row.actionable.is_some(), "{}", row.code);
    }
    assert!(att::stall_reason("BARRIER_WAITS").is_none());
}

#[test]
fn waits_name_what_is_waited_on() {
    for (instruction, on) in [
        ("s_waitcnt vmcnt(0)", Some("vector_memory")),
        ("S_WAITCNT lgkmcnt(0)", Some("lds_or_scalar_memory")),
        ("s_waitcnt vmcnt(0) lgkmcnt(0)", Some("vector_memory+lds_or_scalar_memory")),
        ("s_wait_dscnt 0x0", Some("lds")),
        ("s_wait_loadcnt_dscnt 0x0", Some("vector_memory+lds")),
        ("s_wait_kmcnt 0x0", Some("scalar_memory")),
        ("s_waitcnt_vscnt null, 0x0", Some("vector_memory")),
        ("s_waitcnt expcnt(0)", Some("export")),
        ("v_add_f32 v0, v1, v2", None),
    ] {
        assert_eq!(att::waits_on(instruction).as_deref(), on, "{instruction}");
    }
}

#[test]
fn instructions_fall_into_categories() {
    for (instruction, category) in [
        ("global_load_dwordx4 v[0:3], v4, s[0:1]", "att_vmem_latency"),
        ("s_waitcnt vmcnt(0)", "att_vmem_latency"),
        ("s_waitcnt vmcnt(0) lgkmcnt(0)", "att_vmem_latency"),
        ("s_waitcnt lgkmcnt(0)", "att_lds_conflict"),
        ("ds_read_b128 v[4:7], v8", "att_lds_conflict"),
        ("v_fma_f32 v0, v1, v2, v0", "att_dependency_chain"),
        ("v_mfma_f32_32x32x8f16 a[0:15], v0, v1", "att_dependency_chain"),
        ("s_nop 0", "att_dependency_chain"),
        ("s_wait_alu 0xfffe", "att_dependency_chain"),
        ("s_waitcnt expcnt(0)", "att_dependency_chain"),
        ("s_cbranch_scc1 L1", "att_divergence"),
        ("s_and_saveexec_b64 s[0:1], vcc", "att_divergence"),
        ("v_cmpx_gt_u32 v0, v1", "att_divergence"),
        ("s_barrier", "att_barrier"),
        ("export mrt0 v0", "att_other"),
    ] {
        assert_eq!(att::category(instruction), category, "{instruction}");
    }
}

#[test]
fn flags_keep_their_order_and_the_denied_ones() {
    let flags = compiler::flags();
    let allowed: Vec<_> = flags.iter().filter(|flag| flag.allowlist).collect();
    assert_eq!((flags.len(), allowed.len()), (24, 20));
    let names = |keep: &dyn Fn(&compiler::Flag) -> bool| {
        allowed.iter().filter(|flag| keep(flag)).map(|flag| flag.flag.as_str()).collect::<Vec<_>>()
    };
    let for_goal = |goal: &str, gfx: &str| {
        let has = |list: &[String], word: &str| list.iter().any(|item| item == word);
        names(&|flag| has(&flag.goals, goal) && (has(&flag.arches, "all") || has(&flag.arches, gfx)))
    };
    assert_eq!(for_goal("throughput", "gfx942"), ["-O3"]);
    assert_eq!(for_goal("occupancy", "gfx942"), ["--gpu-max-threads-per-block="]);
    assert_eq!(for_goal("occupancy", "gfx1100"), ["--gpu-max-threads-per-block=", "-mcumode"]);
    assert_eq!(
        names(&|flag| flag.kernel_classes.iter().any(|class| class == "reduction" || class == "any")),
        [
            "-O0",
            "-O1",
            "-O2",
            "-O3",
            "-ffast-math",
            "-fno-math-errno",
            "-ffp-contract=fast",
            "-Rpass-analysis=kernel-resource-usage",
            "--save-temps",
            "-gline-tables-only"
        ]
    );
    let denied: Vec<_> = flags.iter().filter(|flag| !flag.allowlist).map(|flag| flag.flag.as_str()).collect();
    assert_eq!(denied, ["-mllvm -amdgpu-num-vgpr=", "-mllvm", "-Xlinker", "-Wl,-rpath"]);
    assert!(flags[20].alternative.as_ref().unwrap().contains("__launch_bounds__"));
    let vocabulary = compiler::vocabulary();
    assert_eq!((vocabulary.goals.len(), vocabulary.kernel_classes.len()), (12, 9));
    for flag in flags {
        assert!(flag.goals.iter().all(|goal| vocabulary.goals.contains(goal)), "{}", flag.flag);
        let class = |class: &String| class == "any" || vocabulary.kernel_classes.contains(class);
        assert!(flag.kernel_classes.iter().all(class), "{}", flag.flag);
        let id = |id: &String| id == "all" || arch::KNOWN.contains(&id.as_str());
        assert!(flag.arches.iter().all(id), "{}", flag.flag);
    }
    assert_eq!(flags[4].arches, arch::KNOWN);
}

#[test]
fn three_of_ten_pragmas_are_allowed() {
    let rows = compiler::pragmas();
    assert_eq!(rows.len(), 10);
    let allowed: Vec<_> = rows.iter().filter(|row| row.allowlist).map(|row| row.pragma.as_str()).collect();
    assert_eq!(allowed, ["clang_loop_unroll_full", "clang_loop_unroll_count", "clang_loop_unroll_disable"]);
    assert_eq!(rows[1].factor_sweep, [2, 4, 8]);
    assert!(rows.iter().all(|row| row.allowlist == row.reason.is_none()));
    assert_eq!(rows[9].syntax, "#pragma clang loop vectorize_predicate(enable)");
}

#[test]
fn intent_rules_find_what_they_name() {
    for (sentence, best) in [
        ("why is my kernel slow", "analyze.why_slow"),
        ("did my patch help", "verify.did_it_help"),
        ("suggest an optimization", "optimize.optimize"),
        ("how can i speed up my kernel", "optimize.fix"),
        ("what should i fix first", "optimize.fix"),
        ("what can you do", "help.how_use"),
        ("how do i use this", "help.how_use"),
        ("explain occupancy", "explain.explain"),
        ("compare these two runs", "verify.compare_runs"),
        ("did it regress", "verify.did_it_help"),
        ("what is the bottleneck", "analyze.why_slow"),
        ("help me optimize this kernel", "optimize.optimize"),
        ("why is it slower now", "verify.is_better"),
        ("make it faster", "optimize.make_faster"),
        ("profiling data", "analyze.trace"),
        ("recommendations please", "optimize.recommend"),
        ("optimise this", "optimize.optimize"),
    ] {
        let found = intent::matching(sentence);
        let top = found.iter().fold(None, |top: Option<&&intent::Rule>, rule| match top {
            Some(best) if best.weight >= rule.weight => Some(best),
            _ => Some(rule),
        });
        assert_eq!(top.map(|rule| rule.id.as_str()), Some(best), "{sentence}");
    }
    assert!(intent::matching("").is_empty());
    assert!(intent::matching("helpless differential").is_empty());
    assert_eq!(intent::rules().len(), 17);
}

#[test]
fn every_option_commands_use_is_real() {
    let table = collect::rocprofv3_options();
    for option in Opt::ALL {
        assert!(table.find(option.as_str()).is_some(), "{option:?}");
    }
    for mistaken in ["--pc-sampling", "--output-dir", "--output", "--hip-api-trace", "--roctx-trace"] {
        assert!(table.find(mistaken).is_none(), "{mistaken}");
        let instead = table.not_options.iter().find(|row| row.name == mistaken).unwrap();
        assert!(table.find(&instead.instead).is_some(), "{mistaken}");
    }
    for (alias, name) in [
        ("-s", "--sys-trace"),
        ("-r", "--runtime-trace"),
        ("--advanced-thread-trace", "--att"),
        ("--att-no-intercept", "--att"),
        ("-P", "--collection-period"),
        ("-o", "--output-file"),
        ("-d", "--output-directory"),
        ("-f", "--output-format"),
        ("-i", "--input"),
        ("--attach", "--pid"),
        ("-E", "--extra-counters"),
        ("-M", "--mangled-kernels"),
        ("-L", "--list-avail"),
    ] {
        assert_eq!(table.find(alias).unwrap().name, name, "{alias}");
    }
}

#[test]
fn commands_are_spelled_as_documented() {
    let target = Target { app: "./app", out: "perfxpert_out", kernel: None };
    assert_eq!(
        commands::sys_trace(&target).full_command(),
        "rocprofv3 --sys-trace --output-format rocpd -d perfxpert_out -- ./app"
    );
    let att = Target { out: "perfxpert_out_att", kernel: Some("it's a<b>::k(int*) [clone .kd]"), ..target };
    assert_eq!(
        commands::thread_trace(&att).full_command(),
        r"rocprofv3 --att --att-library-path /opt/rocm/lib --att-target-cu 1 --kernel-include-regex 'it'\''s a<b>::k\(int\*\) \[clone \.kd\]' -d perfxpert_out_att -- ./app"
    );
    let pcs = Target { out: "perfxpert_out_pcs", ..target };
    assert_eq!(
        commands::pc_sampling(&pcs, arch::find("gfx90a")).full_command(),
        "rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method host_trap --pc-sampling-unit time --pc-sampling-interval 1 -d perfxpert_out_pcs -- ./app"
    );
    assert!(commands::pc_sampling(&pcs, arch::find("gfx950")).full_command().contains(
        "--pc-sampling-method stochastic --pc-sampling-unit cycles --pc-sampling-interval 1048576"
    ));
    let pass = commands::pmc(&Target { out: "pmc_pass1", ..target }, &["SQ_WAVES", "GRBM_COUNT"]);
    assert_eq!(pass.full_command(), "rocprofv3 --pmc SQ_WAVES GRBM_COUNT -d pmc_pass1 -- ./app");
    assert_eq!(pass.args()[0], ("--pmc".to_owned(), "SQ_WAVES GRBM_COUNT".to_owned()));
    let again =
        commands::traces(&Target { app: "./your_app", out: "./after", kernel: None }, &[Opt::SysTrace]);
    assert_eq!(again.full_command(), "rocprofv3 --sys-trace -d ./after -- ./your_app");
    assert_eq!(
        (again.flags(), again.args()),
        (vec!["--sys-trace"], vec![("-d".to_owned(), "./after".to_owned())])
    );
    let diff = commands::diff("demo_gemm.db", "./after");
    assert_eq!(diff.full_command(), "perfxpert diff demo_gemm.db ./after");
    assert_eq!(
        diff.args(),
        [("BASELINE".to_owned(), "demo_gemm.db".to_owned()), ("NEW".to_owned(), "./after".to_owned())]
    );
    assert!(diff.flags().is_empty());
    assert_eq!(
        commands::pmc_file("pmc_groups.txt", "./app").full_command(),
        "rocprofv3 -i pmc_groups.txt -- ./app"
    );
    assert_eq!(
        commands::rocprof_compute_profile("perfxpert", "./app").full_command(),
        "rocprof-compute profile -n perfxpert -- ./app"
    );
    assert_eq!(commands::amd_smi_watch(1).full_command(), "amd-smi metric --json --watch 1");
    assert_eq!(commands::diff("a b.db", "./after").full_command(), "perfxpert diff 'a b.db' ./after");
    let kfd = commands::traces(&target, &[Opt::KfdTrace]);
    assert_eq!(kfd.newer_options(), ["--kfd-trace"]);
    assert!(commands::sys_trace(&target).newer_options().is_empty());
    for command in [
        commands::sys_trace(&target),
        commands::thread_trace(&att),
        commands::pc_sampling(&pcs, None),
        pass,
        kfd,
        commands::pmc_file("x", "y"),
        commands::rocprof_compute_profile("n", "a"),
        commands::rocprof_compute_analyze("d"),
        commands::rocprof_sys_sample("a"),
        commands::amd_smi_watch(1),
        commands::analyze(&["x.db"]).named("--counters", &["c.db"]).named("--att-dir", &["d"]),
        commands::diff("a", "b"),
        commands::ci("a", "b"),
    ] {
        assert_eq!(commands::check(&command.full_command()), Ok(()), "{}", command.full_command());
        assert!(!command.full_command().contains('\n'));
    }
}

#[test]
fn the_check_refuses_what_no_tool_has() {
    assert_eq!(
        commands::check("rocprofv3 --pc-sampling -- ./app"),
        Err(CommandError::UnknownOption { tool: "rocprofv3".into(), option: "--pc-sampling".into() })
    );
    assert_eq!(commands::check("rocprofv3 --sys-trace -- ./app --whatever"), Ok(()));
    assert!(commands::check("perfxpert analyse -i x").is_err());
    assert!(commands::check("nsys profile ./app").is_err());
    assert!(commands::check("rocprofv3 \"x").is_err());
    assert!(commands::check("rocprof-compute profile --bogus -- a").is_err());
}

#[test]
fn shell_words_split_and_quote_back() {
    assert_eq!(commands::split(r#"a  'b c' "d\"e" f\ g"#).unwrap(), ["a", "b c", "d\"e", "f g"]);
    assert_eq!(commands::split("").unwrap(), Vec::<String>::new());
    assert_eq!(commands::split("''").unwrap(), [""]);
    for broken in ["'x", "\"x", "x\\"] {
        assert!(commands::split(broken).is_err(), "{broken}");
    }
    for word in ["plain", "it's", "a b", "", "$(rm)", "`x`", "a;b", "-", "ünïcode", "a\"b\\c"] {
        assert_eq!(commands::split(&commands::quote(word)).unwrap(), [word], "{word}");
    }
    assert_eq!(commands::quote("a/b.db:=+@%,-_"), "a/b.db:=+@%,-_");
    assert_eq!(commands::escape_regex(".+*?()[]{}^$|\\a<b>"), r"\.\+\*\?\(\)\[\]\{\}\^\$\|\\a<b>");
}

#[test]
fn group_options_imply_their_parts() {
    let sys = collect::closure(["--sys-trace"]);
    for token in [
        "--sys-trace",
        "--hip-trace",
        "--hip-runtime-trace",
        "--hip-compiler-trace",
        "--hsa-core-trace",
        "--hsa-finalizer-trace",
        "--kernel-trace",
        "--memory-copy-trace",
        "--rccl-trace",
        "--rocjpeg-trace",
    ] {
        assert!(sys.iter().any(|known| known == token), "{token}");
    }
    for newer in ["--kfd-trace", "--ompt-trace", "--hip-event-trace"] {
        assert!(!sys.iter().any(|known| known == newer), "{newer}");
    }
    let runtime = collect::closure(["--runtime-trace"]);
    assert!(runtime.contains(&"--hip-runtime-trace".to_owned()));
    assert!(!runtime.iter().any(|token| token == "--hip-trace" || token.starts_with("--hsa")));
    assert_eq!(collect::closure(["--kokkos-trace"]), ["--kokkos-trace", "--marker-trace"]);
    assert_eq!(collect::closure(["--kfd-trace"]).len(), 5);
    let known = |token: &String| collect::rocprofv3_options().find(token).is_some();
    assert!(collect::implied().values().flatten().all(known));
}

#[test]
fn goals_steps_and_workflow() {
    let goals: Vec<_> = collect::goals().iter().map(|goal| goal.name.as_str()).collect();
    assert_eq!(
        goals,
        [
            "source",
            "roofline",
            "stall",
            "thread_trace",
            "memory_bandwidth",
            "occupancy",
            "communication",
            "paging",
            "host_overhead",
            "counters",
            "classify",
            "timeline",
            "any"
        ]
    );
    let steps: Vec<_> = collect::steps().iter().map(|step| (step.name.as_str(), step.cost_s)).collect();
    assert_eq!(
        steps,
        [
            ("source_scan", 10.0),
            ("rocprofv3 --sys-trace", 30.0),
            ("rocprofv3 --kfd-trace", 30.0),
            ("rocprofv3 --pmc (classify set)", 90.0),
            ("rocprofv3 --pmc FETCH_SIZE", 120.0),
            ("rocprofv3 --pmc WRITE_SIZE", 120.0),
            ("rocprofv3 --pmc (typed operation counters)", 150.0),
            ("rocprofv3 --pc-sampling-beta-enabled", 180.0),
            ("rocprofv3 --att", 240.0)
        ]
    );
    let at = |goal: &str, tier: usize| {
        let step = &collect::workflow()[goal][tier];
        (step.next_tier, step.phase.as_str(), step.step.as_str())
    };
    assert_eq!(collect::workflow().len(), 8);
    assert!(collect::workflow().values().all(|steps| steps.len() == 4));
    assert_eq!(at("collect", 0), (1, "profile", "trace"));
    assert_eq!(at("classify", 1), (1, "analyze", "analyze"));
    assert_eq!(at("measure", 1), (2, "profile", "counters"));
    assert_eq!(at("measure", 2), (2, "analyze", "analyze"));
    assert_eq!(at("deep", 2), (3, "profile", "thread_trace"));
    assert_eq!(at("pc_sampling", 1), (3, "profile", "pc_sampling"));
    assert_eq!(at("deep", 3), (3, "optimize", "optimize"));
    assert_eq!(at("build", 0), (0, "build", "build"));
    assert_eq!(at("verify", 3), (1, "reprofile", "verify"));
}

#[test]
fn counter_sets_per_architecture() {
    let sets = collect::counter_sets();
    let classify = |gfx: Option<&str>| collect::passes(&sets.classify, gfx)[0].join(" ");
    let base = "SQ_WAVES GRBM_COUNT GRBM_GUI_ACTIVE SQ_WAVE_CYCLES";
    for gfx in ["gfx90a", "gfx942", "gfx950"] {
        assert_eq!(
            classify(Some(gfx)),
            format!("{base} SQ_ACTIVE_INST_VALU SQ_BUSY_CU_CYCLES SQ_VALU_MFMA_BUSY_CYCLES")
        );
    }
    assert_eq!(
        classify(Some("gfx908")),
        format!("{base} SQ_ACTIVE_INST_VALU SQ_BUSY_CU_CYCLES SQ_INSTS_MFMA")
    );
    assert_eq!(classify(Some("gfx1100")), format!("{base} SQ_WAIT_ANY SQ_WAIT_INST_ANY SQ_INSTS_VALU"));
    assert_eq!(classify(None), format!("{base} SQ_INSTS_VALU"));
    assert_eq!(
        collect::passes(&sets.write, Some("gfx1201"))[0],
        ["GL2C_EA_WRREQ_sum", "GL2C_EA_WRREQ_64B_sum"]
    );
    assert_eq!(collect::passes(&sets.write, Some("gfx942"))[0], ["WRITE_SIZE"]);
    assert!(collect::passes(&sets.typed_operations, Some("gfx1100")).is_empty());
    let typed = collect::passes(&sets.typed_operations, Some("gfx950"));
    assert_eq!(typed.len(), 3);
    assert_eq!((typed[0].len(), typed[1].len()), (8, 8));
    assert!(typed[2].contains(&"SQ_INSTS_VALU_MFMA_MOPS_F6F4".to_owned()));
}

#[test]
fn runtime_calls() {
    use api::Family::{Alloc, Copy, Launch, Module, Other, Sync};
    for (call, family, blocks) in [
        ("hipLaunchKernel", Launch, false),
        ("hipExtModuleLaunchKernel", Launch, false),
        ("hipModuleLaunchCooperativeKernel", Launch, false),
        ("hipGraphLaunch", Launch, false),
        ("cudaLaunchKernel", Launch, false),
        ("hipDeviceSynchronize", Sync, true),
        ("hipStreamSynchronize", Sync, true),
        ("hipEventSynchronize", Sync, true),
        ("hipStreamQuery", Sync, false),
        ("hipMemcpy", Copy, true),
        ("hipMemcpyHtoD", Copy, true),
        ("hipMemcpyAsync", Copy, false),
        ("hipMemcpyHtoDAsync", Copy, false),
        ("hipMemset", Copy, false),
        ("hipMalloc", Alloc, false),
        ("hipFree", Alloc, false),
        ("hipHostRegister", Alloc, false),
        ("hipModuleLoadData", Module, false),
        ("hipModuleGetFunction", Module, false),
        ("hipGraphAddMemcpyNode", Other, false),
        ("hipGetDevice", Other, false),
        ("HSA_AMD_MEMORY_ASYNC_COPY", Copy, false),
    ] {
        assert_eq!(api::family(call), family, "{call}");
        assert_eq!(api::blocks(call), blocks, "{call}");
    }
}

#[test]
fn client_programs() {
    assert_eq!(clients::injected_arguments(), &["wait_for_previous"]);
    assert_eq!(clients::default_model("ollama"), Some("llama3.1"));
    assert_eq!(clients::default_model("private"), None);
}
