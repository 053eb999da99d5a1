//! What becomes of inputs that are missing, foreign, damaged, locked or hostile; and that nothing beside them changes.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use perfxpert_fixtures::damage::{Damage, not_a_database};
use perfxpert_fixtures::{Journal, KernelSpec, Schema, TraceBuilder, Views};
use perfxpert_trace::{
    Control, CounterSweep, CounterValue, Dispatch, Health, Looks, OpenError, OpenOptions, RowCounts,
    ScanError, Select, Severity, Sweep, Trace,
};
use rusqlite::Connection;

#[derive(Default)]
struct Rows {
    dispatches: Vec<Dispatch>,
}

impl Sweep for Rows {
    fn dispatch(&mut self, row: &Dispatch) {
        self.dispatches.push(*row);
    }
}

fn partial() -> OpenOptions {
    OpenOptions { allow_partial: true, strict: false }
}

fn open(path: &Path) -> Result<Trace, OpenError> {
    Trace::open(&[path.to_path_buf()], &OpenOptions::default())
}

fn read(trace: &Trace) -> (Vec<Dispatch>, RowCounts, Health) {
    let (rows, report) = trace.sweep(Select::ALL, &Control::default(), Rows::default).unwrap();
    (rows.dispatches, report.rows, report.health)
}

/// `count` dispatches of two kernels, one launch call each, 1 µs every 2 µs.
fn plain(count: i64) -> TraceBuilder {
    let mut trace = TraceBuilder::new();
    let gpu = trace.gpu("mi300x");
    let relu = trace.kernel(KernelSpec::new("relu(float*, int)"));
    let gemm = trace.kernel(KernelSpec::new("gemm<float, 16>(float*, int)"));
    for step in 0..count {
        let at = step * 2_000;
        let kernel = if step % 2 == 0 { relu } else { gemm };
        trace.launch(gpu, kernel, at..at + 500, at + 600..at + 1_600);
    }
    trace
}

fn listing(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let modified = path.metadata().unwrap().modified().unwrap();
            (path.clone(), (std::fs::read(&path).unwrap(), modified))
        })
        .collect()
}

#[test]
fn a_missing_path_is_named_and_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nope.db");
    assert!(matches!(open(&path), Err(OpenError::NotFound { path: named }) if named == path));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(matches!(Trace::open(&[], &OpenOptions::default()), Err(OpenError::NoInput)));
}

#[test]
fn a_folder_is_its_databases_or_those_one_level_down() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(open(folder.path()), Err(OpenError::FolderWithoutDatabases { .. })));
    let host = folder.path().join("host");
    std::fs::create_dir(&host).unwrap();
    std::fs::create_dir(host.join("deeper.db")).unwrap();
    plain(3).write_to(host.join("1_results.db")).unwrap();
    plain(4).write_to(host.join("2_results.db")).unwrap();
    let trace = open(folder.path()).unwrap();
    assert_eq!(trace.sources().len(), 2);
    assert_eq!(read(&trace).1.dispatches, 7);
    plain(5).write_to(folder.path().join("direct.db")).unwrap();
    let trace = open(folder.path()).unwrap();
    assert_eq!(read(&trace).1.dispatches, 5, "files in the folder come before those one level down");
}

#[test]
fn files_that_are_no_databases_are_called_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    for (kind, wanted) in [
        ("", Looks::Empty),
        ("text", Looks::Text),
        ("gzip", Looks::Gzip),
        ("json", Looks::Json),
        ("elf", Looks::Elf),
        ("csv", Looks::ProfilerCsv),
        ("pftrace", Looks::Perfetto),
        ("header", Looks::CutHeader),
    ] {
        let content = not_a_database(kind);
        std::fs::write(&path, &content).unwrap();
        match open(&path) {
            Err(OpenError::NotADatabase { bytes, looks, .. }) => {
                assert_eq!((bytes, looks), (content.len() as u64, wanted), "{kind}")
            }
            other => panic!("{kind}: {other:?}"),
        }
    }
}

#[test]
fn other_databases_are_refused_with_their_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let sql = Connection::open(&path).unwrap();
    for table in 0..12 {
        sql.execute_batch(&format!("CREATE TABLE t{table:02} (a)")).unwrap();
    }
    drop(sql);
    match open(&path) {
        Err(OpenError::NotRocpd { tables, tables_total, profiler: None, .. }) => {
            assert_eq!((tables.len(), tables_total, tables[0].as_str()), (10, 12, "t00"));
        }
        other => panic!("{other:?}"),
    }
    let path = folder.path().join("old.rpd");
    let sql = Connection::open(&path).unwrap();
    sql.execute_batch("CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string); CREATE TABLE rocpd_op (id); CREATE TABLE rocpd_api (id)")
        .unwrap();
    drop(sql);
    assert!(matches!(open(&path), Err(OpenError::NotRocpd { profiler: Some(_), .. })));
}

#[test]
fn cut_files_give_what_is_left_or_are_refused() {
    let file = plain(4000).build().unwrap();
    let whole = std::fs::read(file.path()).unwrap();
    for thousandths in [950, 900, 700, 500] {
        std::fs::write(file.path(), &whole).unwrap();
        Damage::Cut(thousandths).apply(file.path()).unwrap();
        match Trace::open(&[file.path().to_path_buf()], &partial()) {
            Ok(trace) => {
                let item = trace.health().get("truncated_file").expect("says so");
                assert_eq!(item.severity, Severity::DataLoss);
                let (rows, _, _) = read(&trace);
                assert!(!rows.is_empty() && rows.len() <= 4000);
                match open(file.path()) {
                    Err(OpenError::Unreadable { readable: Some(readable), .. }) => {
                        assert_eq!(readable.dispatches, rows.len() as u64);
                        if rows.len() < 4000 {
                            assert!(readable.expected_dispatches.unwrap() <= 4000, "{readable:?}");
                        }
                    }
                    other => panic!("{other:?}"),
                }
            }
            Err(OpenError::Unreadable { readable: Some(readable), .. }) => assert_eq!(readable.dispatches, 0),
            Err(other) => panic!("{thousandths}: {other:?}"),
        }
    }
    for bytes in [100, 512, 4096] {
        std::fs::write(file.path(), &whole).unwrap();
        Damage::Keep(bytes).apply(file.path()).unwrap();
        let result = Trace::open(&[file.path().to_path_buf()], &partial());
        assert!(
            matches!(result, Err(OpenError::Unreadable { .. } | OpenError::NotADatabase { .. })),
            "{bytes}: {result:?}"
        );
    }
}

#[test]
fn a_cut_in_the_middle_keeps_most_dispatches() {
    let folder = tempfile::tempdir().unwrap();
    let path = plain(4000).write_to(folder.path().join("t.db")).unwrap();
    // Rewriting the file puts the tables one after the other, the schema first.
    Connection::open(&path).unwrap().execute_batch("VACUUM").unwrap();
    Damage::Cut(990).apply(&path).unwrap();
    let trace = Trace::open(&[path], &partial()).unwrap();
    assert!(trace.health().get("truncated_file").is_some());
    assert!(read(&trace).0.len() > 3900);
}

#[test]
fn damaged_indexes_do_not_matter() {
    let file = plain(1000).build().unwrap();
    Damage::Indexes(9).apply(file.path()).unwrap();
    let trace = open(file.path()).unwrap();
    assert_eq!(read(&trace).0.len(), 1000);
    assert!(trace.health().items().is_empty());
}

#[test]
fn random_damage_never_panics_and_is_never_silent() {
    let file = plain(600).build().unwrap();
    let whole = std::fs::read(file.path()).unwrap();
    for seed in 0..60 {
        std::fs::write(file.path(), &whole).unwrap();
        let damage = if seed % 2 == 0 { Damage::Pages(seed, 3) } else { Damage::Bits(seed, 40) };
        damage.apply(file.path()).unwrap();
        let Ok(trace) = Trace::open(&[file.path().to_path_buf()], &partial()) else { continue };
        let (rows, report) = trace.sweep(Select::ALL, &Control::default(), Rows::default).unwrap();
        if seed % 2 == 0 && rows.dispatches.len() < 600 {
            assert!(
                report.rows.left_out > 0
                    || report.health.get("truncated_file").is_some()
                    || !trace.health().items().is_empty()
            );
        }
    }
}

#[test]
fn damage_inside_a_table_is_an_error_unless_allowed() {
    let file = plain(3000).build().unwrap();
    let sql = Connection::open(file.path()).unwrap();
    let table: String = sql
        .query_row(
            "SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'rocpd_kernel_dispatch%'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let root: u32 = sql
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = ?1", [&table], |row| row.get(0))
        .unwrap();
    drop(sql);
    let root = root as usize;
    let mut bytes = std::fs::read(file.path()).unwrap();
    // The second child of the root: bytes 12.. of an interior page point to its cells.
    let page = (root - 1) * 4096;
    let cell = page + usize::from(u16::from_be_bytes([bytes[page + 14], bytes[page + 15]]));
    let child = u32::from_be_bytes(bytes[cell..cell + 4].try_into().unwrap()) as usize;
    bytes[(child - 1) * 4096] = 0x77;
    std::fs::write(file.path(), bytes).unwrap();
    let trace = open(file.path()).unwrap();
    let refused = trace.sweep(Select::ALL, &Control::default(), Rows::default).map(|_| ());
    assert!(matches!(refused, Err(ScanError::Damaged { pages: 1, .. })), "{refused:?}");
    let trace = Trace::open(&[file.path().to_path_buf()], &partial()).unwrap();
    let (rows, _, health) = read(&trace);
    assert!(rows.len() > 2900 && rows.len() < 3000);
    assert_eq!(health.get("truncated_file").unwrap().severity, Severity::DataLoss);
}

#[test]
fn pending_rows_of_a_write_ahead_log_count_and_nothing_changes() {
    for journal in [Journal::Delete, Journal::WalClean, Journal::WalPending] {
        let mut builder = plain(50);
        builder.journal(journal);
        let file = builder.build().unwrap();
        let before = listing(file.folder());
        let trace = open(file.path()).unwrap();
        assert_eq!(read(&trace).0.len(), 50, "{journal:?}");
        assert_eq!(trace.health().get("pending_wal").is_some(), journal == Journal::WalPending);
        drop(trace);
        assert_eq!(listing(file.folder()), before, "{journal:?}");
    }
}

#[test]
fn a_file_in_write_ahead_mode_opens_in_a_read_only_folder() {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = plain(20);
    builder.journal(Journal::WalClean);
    let file = builder.build().unwrap();
    let writable = file.folder().metadata().unwrap().permissions();
    std::fs::set_permissions(file.folder(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let rows = open(file.path()).map(|trace| read(&trace).0.len());
    std::fs::set_permissions(file.folder(), writable).unwrap();
    assert_eq!(rows.unwrap(), 20);
}

#[test]
fn a_locked_file_is_reported_within_five_seconds() {
    let file = plain(20).build().unwrap();
    let writer = Connection::open(file.path()).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let begin = Instant::now();
    match open(file.path()) {
        Err(OpenError::Unreadable { reason, .. }) => assert!(reason.contains("lock"), "{reason}"),
        other => panic!("{other:?}"),
    }
    assert!(begin.elapsed().as_secs_f64() < 5.0);
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(read(&open(file.path()).unwrap()).0.len(), 20);
}

#[test]
fn paths_full_of_uri_syntax_work() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a b.db", "a?mode=rw.db", "a#b.db", "a%41.db", "it's \"q\".db", "späße 文.db"] {
        let path = plain(7).write_to(folder.path().join(name)).unwrap();
        assert_eq!(read(&open(&path).unwrap()).0.len(), 7, "{name}");
    }
}

#[test]
fn hostile_schemas_are_never_run() {
    let mut builder = plain(30);
    builder.views(Views::None);
    builder.extra_sql(
        "CREATE VIEW kernels AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;
         CREATE TRIGGER t AFTER INSERT ON \"rocpd_kernel_dispatch{{sfx}}\" BEGIN DELETE FROM \"rocpd_kernel_dispatch{{sfx}}\"; END;
         CREATE TABLE \"x\"\"y'; DROP TABLE z\" (a);",
    );
    let file = builder.build().unwrap();
    let before = listing(file.folder());
    assert_eq!(read(&open(file.path()).unwrap()).0.len(), 30);
    assert_eq!(listing(file.folder()), before);
}

#[test]
fn views_and_versions_do_not_change_the_rows() {
    for schema in [Schema::V3, Schema::Legacy, Schema::V302, Schema::V410] {
        let mut builder = plain(40);
        builder.schema(schema);
        let file = builder.build().unwrap();
        let trace = open(file.path()).unwrap();
        let (rows, counts, health) = read(&trace);
        assert_eq!((rows.len(), counts.regions, health.items().len()), (40, 40, 0), "{schema:?}");
        assert!(
            rows.iter().all(|row| row.call != 0
                && row.agent.is_some()
                && row.queue.is_some()
                && row.thread.is_some())
        );
    }
    for (version, known) in [("3.0.0", true), ("3.0.1", true), ("4.0.0", true), ("9.9", false)] {
        let mut builder = plain(4);
        builder.version_text = Some(version.into());
        let file = builder.build().unwrap();
        let trace = open(file.path()).unwrap();
        assert_eq!(trace.health().get("unknown_schema").is_none(), known, "{version}");
        assert_eq!(trace.sources()[0].schema_version.as_deref(), Some(version));
    }
}

#[test]
fn one_file_given_twice_counts_once() {
    let file = plain(6).build().unwrap();
    let link = file.folder().join("link.db");
    std::fs::hard_link(file.path(), &link).unwrap();
    let trace = Trace::open(&[file.path().to_path_buf(), link], &OpenOptions::default()).unwrap();
    assert_eq!(read(&trace).0.len(), 6);
    assert_eq!(trace.health().get("duplicate_source").unwrap().count, 1);
}

#[test]
fn unusable_files_among_usable_ones_are_skipped_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for rank in 0..3 {
        let mut builder = TraceBuilder::seeded(rank + 1);
        let gpu = builder.gpu("mi300x");
        let kernel = builder.kernel(KernelSpec::new("k()"));
        for step in 0..5 {
            builder.dispatch(gpu, kernel, step * 100..step * 100 + 50);
        }
        builder.write_to(folder.path().join(format!("run_rank{rank}.db"))).unwrap();
    }
    std::fs::write(folder.path().join("x.db"), "not a database\n").unwrap();
    Connection::open(folder.path().join("other.db")).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let trace = open(folder.path()).unwrap();
    let (rows, _, _) = read(&trace);
    assert_eq!(rows.len(), 15);
    let skipped = trace.health().get("skipped_source").unwrap();
    assert_eq!((skipped.count, skipped.examples.len()), (2, 2));
    assert_eq!(trace.processes().iter().map(|process| process.rank).collect::<Vec<_>>(), [0, 1, 2]);
    let strict = OpenOptions { strict: true, ..OpenOptions::default() };
    assert!(Trace::open(&[folder.path().to_path_buf()], &strict).is_err());
}

#[test]
fn five_hundred_files_need_few_handles() {
    let folder = tempfile::tempdir().unwrap();
    let first = plain(20).write_to(folder.path().join("000.db")).unwrap();
    for copy in 1..300 {
        std::fs::copy(&first, folder.path().join(format!("{copy:03}.db"))).unwrap();
    }
    let trace = open(folder.path()).unwrap();
    assert_eq!(read(&trace).1.dispatches, 6000);
    let handles = std::fs::read_dir("/proc/self/fd").unwrap().count();
    assert!(handles < 128, "{handles}");
}

#[test]
fn a_lone_long_kernel_is_real_and_one_among_many_is_not() {
    let mut builder = TraceBuilder::new();
    let gpu = builder.gpu("mi300x");
    let kernel = builder.kernel(KernelSpec::new("k()"));
    builder.dispatch(gpu, kernel, 0..5_000_000_000);
    for step in 0..99 {
        builder.dispatch(gpu, kernel, step * 10..step * 10 + 5);
    }
    let file = builder.build().unwrap();
    let (rows, _, health) = read(&open(file.path()).unwrap());
    assert_eq!((rows.len(), health.items().len()), (100, 0), "99 others are too few to judge by");
    builder.dispatch(gpu, kernel, 99 * 10..99 * 10 + 5);
    let file = builder.build().unwrap();
    let (rows, counts, health) = read(&open(file.path()).unwrap());
    assert_eq!((rows.len(), counts.left_out, health.get("absurd_duration").unwrap().count), (100, 1, 1));
}

#[test]
fn long_rows_the_sample_missed_are_kept_when_all_rows_speak_for_them() {
    // One quiet second row late in the table stretches the span; the sample need not meet it.
    let mut builder = TraceBuilder::new();
    let gpu = builder.gpu("mi300x");
    let kernel = builder.kernel(KernelSpec::new("k()"));
    for step in 0..20_000 {
        builder.dispatch(gpu, kernel, step * 10..step * 10 + 5);
        if step == 7_777 {
            builder.dispatch(gpu, kernel, 3_000_000_000..3_000_000_005);
        }
        if step == 11_111 {
            builder.dispatch(gpu, kernel, 1_000..2_900_000_000);
        }
    }
    let file = builder.build().unwrap();
    let (rows, counts, health) = read(&open(file.path()).unwrap());
    assert_eq!((rows.len(), counts.left_out), (20_002, 0), "{health:?}");
}

#[derive(Default)]
struct Values(Vec<(i64, f64, f64, u32)>);

impl CounterSweep for Values {
    fn counters(&mut self, dispatch: &Dispatch, values: &[CounterValue]) {
        self.0
            .extend(values.iter().map(|value| (dispatch.dispatch_id, value.sum, value.max, value.instances)));
    }
}

#[test]
fn instances_add_up_and_repeated_or_unusable_rows_do_not() {
    use perfxpert_fixtures::CounterId;
    let mut builder = TraceBuilder::new();
    let gpu = builder.gpu("mi300x");
    let kernel = builder.kernel(KernelSpec::new("k()"));
    let waves = builder.counter_with_id(CounterId(0), gpu, "SQ_WAVES");
    for step in 0..3 {
        builder.dispatch(gpu, kernel, step * 100..step * 100 + 50).counter_instances(waves, 8, 64.0);
    }
    builder.extra_sql(
        "INSERT INTO \"rocpd_pmc_event{{sfx}}\" (event_id, pmc_id, value) SELECT event_id, pmc_id, value FROM \"rocpd_pmc_event{{sfx}}\" WHERE event_id = (SELECT MIN(event_id) FROM \"rocpd_pmc_event{{sfx}}\");
         INSERT INTO \"rocpd_pmc_event{{sfx}}\" (event_id, pmc_id, value) SELECT MAX(event_id), 0, -9.5e70 FROM \"rocpd_pmc_event{{sfx}}\";
         INSERT INTO \"rocpd_pmc_event{{sfx}}\" (event_id, pmc_id, value) SELECT MAX(event_id), 0, 'N/A' FROM \"rocpd_pmc_event{{sfx}}\";
         INSERT INTO \"rocpd_pmc_event{{sfx}}\" (event_id, pmc_id, value) SELECT MAX(event_id), 0, NULL FROM \"rocpd_pmc_event{{sfx}}\";",
    );
    let file = builder.build().unwrap();
    let trace = open(file.path()).unwrap();
    let (values, report) = trace.counters(&Control::default(), Values::default).unwrap();
    assert_eq!(values.0, [(1, 512.0, 64.0, 8), (2, 512.0, 64.0, 8), (3, 512.0, 64.0, 8)]);
    assert_eq!(report.rows.counter_values, 24);
    assert_eq!(report.health.get("unusable_counter_values").unwrap().count, 3);
    assert_eq!(report.health.get("duplicate_counter_values").unwrap().count, 8);
}

#[test]
fn a_sweep_can_be_stopped() {
    let file = plain(20_000).build().unwrap();
    let trace = open(file.path()).unwrap();
    let control = Control::default();
    control.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(trace.sweep(Select::ALL, &control, Rows::default), Err(ScanError::Cancelled)));
}

#[test]
fn invalid_text_is_shown_with_replacement_characters() {
    let mut builder = TraceBuilder::new();
    let gpu = builder.gpu("mi300x");
    let kernel = builder.kernel(KernelSpec::from_bytes(b"bad\xff\xfename"));
    builder.dispatch(gpu, kernel, 0..10);
    let file = builder.build().unwrap();
    let trace = open(file.path()).unwrap();
    let (rows, _, _) = read(&trace);
    assert_eq!(&*trace.kernel(rows[0].kernel).unwrap().name, "bad\u{fffd}\u{fffd}name");
    assert_eq!(trace.health().get("invalid_text").unwrap().count, 1);
}

#[test]
fn huge_names_are_kept_whole_with_a_short_id() {
    let mut builder = TraceBuilder::new();
    let gpu = builder.gpu("mi300x");
    for length in [4_000, 60_000, 1_000_000] {
        let kernel = builder.kernel(KernelSpec::new(&"k".repeat(length)));
        builder.dispatch(gpu, kernel, length as i64..length as i64 + 10);
    }
    let begin = Instant::now();
    let file = builder.build().unwrap();
    let trace = open(file.path()).unwrap();
    let (rows, _, _) = read(&trace);
    let lengths: Vec<usize> = rows.iter().map(|row| trace.kernel(row.kernel).unwrap().name.len()).collect();
    assert_eq!(lengths, [4_000, 60_000, 1_000_000]);
    assert!(rows.iter().all(|row| trace.kernel(row.kernel).unwrap().id8.len() == 8));
    assert!(begin.elapsed().as_secs() < 20);
}
