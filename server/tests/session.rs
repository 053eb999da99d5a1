//! The server over in-memory streams, with tools made to misbehave: what a client sees, line by line.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use perfxpert_schemas::tools::Contract;
use perfxpert_schemas::{ErrorKind, ErrorObject};
use perfxpert_server::{Options, serve};
use perfxpert_tool_registry::{Context, Registry, Services, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Milliseconds to work.
    #[serde(default)]
    #[schemars(range(min = 0, max = 60000))]
    ms: u64,
    /// A text that comes back.
    text: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The text that came in.
    text: Option<String>,
    /// Rows.
    rows: Vec<Row>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    name: String,
}

macro_rules! contract {
    ($name:ident, $dotted:literal) => {
        struct $name;
        impl Contract for $name {
            const NAME: &'static str = $dotted;
            type Input = Input;
            type Output = Output;
        }
    };
}
contract!(Echo, "test.echo");
contract!(Patient, "test.patient");
contract!(Deaf, "test.deaf");
contract!(Panics, "test.panics");
contract!(Fails, "test.fails");
contract!(Talks, "test.talks");
contract!(Agent, "agent.test");

fn output(input: Input) -> Output {
    let rows = ["a\nb", "c\u{2028}\rd"].map(|name| Row { name: name.to_owned() });
    Output { text: input.text, rows: rows.into() }
}

/// Works while it may, like a loop over rows.
fn patient(context: &Context, input: Input) -> Result<Output, ErrorObject> {
    let end = Instant::now() + Duration::from_millis(input.ms);
    while Instant::now() < end {
        context.check()?;
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(output(input))
}

static ALIVE: AtomicUsize = AtomicUsize::new(0);
static MOST_ALIVE: AtomicUsize = AtomicUsize::new(0);

/// Never looks whether it should stop.
fn deaf(_: &Context, input: Input) -> Result<Output, ErrorObject> {
    let now = ALIVE.fetch_add(1, Ordering::SeqCst) + 1;
    MOST_ALIVE.fetch_max(now, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(input.ms));
    ALIVE.fetch_sub(1, Ordering::SeqCst);
    Ok(output(input))
}

fn registry() -> Registry {
    Registry::of(vec![
        tool::<Echo>("Echo", "Gives the text back.", |_, input| Ok(output(input))),
        tool::<Patient>("Patient", "Works for a while.", patient),
        tool::<Deaf>("Deaf", "Works for a while without looking up.", deaf),
        tool::<Panics>("Panics", "Fails by a fault of ours.", |_, input| {
            let none: Option<u8> = input.text.as_ref().map(|_| 1);
            assert!(none.is_some(), "on purpose");
            Ok(output(input))
        }),
        tool::<Fails>("Fails", "Refuses.", |_, _| {
            Err(ErrorObject::new(ErrorKind::NoEvidence, "There is nothing.", "Bring something."))
        }),
        tool::<Talks>("Talks", "Tells its phases.", |context, input| {
            for phase in ["open", "read", "read", "analyse", "answer"] {
                context.phase(phase, 0.0, None);
            }
            Ok(output(input))
        }),
        tool::<Agent>("Agent", "Asks a model when told to.", |_, input| Ok(output(input))).agent(),
    ])
}

struct Session {
    write: Option<WriteHalf<DuplexStream>>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: JoinHandle<Result<(), perfxpert_server::ServeError>>,
}

impl Session {
    fn start(options: Options) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let server = tokio::spawn(serve(registry(), Arc::new(Services::default()), options, read, write));
        let (read, write) = tokio::io::split(ours);
        Self { write: Some(write), lines: BufReader::new(read).lines(), server }
    }

    async fn open() -> Self {
        Self::open_with(Options::default()).await
    }

    async fn open_with(options: Options) -> Self {
        let mut session = Self::start(options);
        session.initialize().await;
        session
    }

    async fn initialize(&mut self) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}))
            .await;
        let answer = self.next().await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer
    }

    async fn raw(&mut self, bytes: &[u8]) {
        let write = self.write.as_mut().unwrap();
        write.write_all(bytes).await.unwrap();
        write.flush().await.unwrap();
    }

    async fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes()).await;
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.lines.next_line()).await;
        serde_json::from_str(&line.expect("an answer").unwrap().expect("the session goes on")).unwrap()
    }

    async fn call(&mut self, id: i64, name: &str, arguments: Value) -> Value {
        self.send(&call(id, name, arguments)).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id);
        answer
    }

    /// Closes the input and returns how long the server took to end.
    async fn hang_up(mut self) -> Duration {
        let begin = Instant::now();
        let mut write = self.write.take().unwrap();
        write.shutdown().await.unwrap();
        drop(write);
        // The other half of a duplex stream still holds it open.
        drop(self.lines);
        self.server.await.unwrap().unwrap();
        begin.elapsed()
    }
}

fn call(id: i64, name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

fn call_with_token(id: i64, name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": name, "arguments": arguments, "_meta": {"progressToken": "t"}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn initialize_says_who_we_are_in_every_handshake_version() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut session = Session::start(Options::default());
        session
            .send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}))
            .await;
        let result = session.next().await["result"].clone();
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "perfxpert");
        assert!(result["capabilities"]["tools"].is_object());
        assert!(result["instructions"].as_str().unwrap().len() < 2048);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stateless_era_is_served_without_a_handshake() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let mut session = Session::start(Options::default());
    session
        .send(&json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}))
        .await;
    let discovered = session.next().await;
    assert!(discovered["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    session
        .send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": meta}}))
        .await;
    let listed = session.next().await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), registry().len());
    assert!(listed["result"]["ttlMs"].as_u64().unwrap() > 0);
    session
        .send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call",
            "params": {"name": "test.echo", "arguments": {"text": "x"}, "_meta": meta}}))
        .await;
    let answer = session.next().await;
    assert_eq!(answer["result"]["structuredContent"]["text"], "x");
    assert_eq!(answer["result"]["resultType"], "complete");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_page_with_hints_and_plain_schemas() {
    let mut session = Session::open().await;
    session.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    let result = session.next().await["result"].clone();
    assert!(result.get("nextCursor").is_none());
    let tools = result["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names[0], "perfxpert_agent_test", "agents come first");
    let mut rest = names[1..].to_vec();
    rest.sort_unstable();
    assert_eq!(rest, names[1..]);
    for tool in tools {
        let agent = tool["name"] == "perfxpert_agent_test";
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!(tool["annotations"]["destructiveHint"], false);
        assert_eq!(tool["annotations"]["idempotentHint"], !agent);
        assert_eq!(tool["annotations"]["openWorldHint"], agent);
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["outputSchema"]["type"], "object");
        assert!(tool["title"].is_string() && tool["description"].is_string());
    }
    session
        .send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"cursor": "2"}}))
        .await;
    assert_eq!(session.next().await["error"]["code"], -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn text_and_structure_hold_the_same_answer() {
    let mut session = Session::open().await;
    for name in ["test.echo", "test_echo", "perfxpert_test_echo", "mcp__perfxpert__test_echo"] {
        let answer = session.call(1, name, json!({"text": "x", "wait_for_previous": true})).await;
        let result = &answer["result"];
        assert_ne!(result["isError"], true);
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 1);
        let text = content[0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        assert!(text.lines().count() > 3, "clients cut by line");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_come_structured_and_an_unknown_tool_is_a_protocol_error() {
    let mut session = Session::open().await;
    for (name, arguments, kind) in [
        ("test.fails", json!({}), "no_evidence"),
        ("test.echo", json!({"txt": 1}), "invalid_argument"),
        ("test.echo", json!({"ms": -1}), "invalid_argument"),
        ("test.panics", json!({}), "internal"),
    ] {
        let answer = session.call(1, name, arguments).await;
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{answer}");
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["kind"], kind);
        assert!(error["message"].is_string() && error["hint"].is_string());
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
    }
    let answer = session.call(2, "test.ecko", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("test.ecko"));
    // The panic above ended nothing.
    assert_eq!(
        session.call(3, "test.echo", json!({"text": "y"})).await["result"]["structuredContent"]["text"],
        "y"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn phases_arrive_in_order_before_the_answer_and_only_with_a_token() {
    let mut session = Session::open().await;
    for _ in 0..20 {
        session.send(&call_with_token(1, "test.talks", json!({}))).await;
        let mut seen = Vec::new();
        let answer = loop {
            let message = session.next().await;
            if message["id"] == 1 {
                break message;
            }
            assert_eq!(message["method"], "notifications/progress");
            assert_eq!(message["params"]["progressToken"], "t");
            seen.push((
                message["params"]["progress"].as_f64().unwrap(),
                message["params"]["message"].clone(),
            ));
        };
        assert_ne!(answer["result"]["isError"], true);
        let expected = ["open", "read", "analyse", "answer"];
        assert_eq!(seen, (1..).map(f64::from).zip(expected.map(|word| json!(word))).collect::<Vec<_>>());
    }
    // Without a token `call` asserts that the next line is the answer.
    session.call(2, "test.talks", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_tool_still_shows_life_every_two_seconds() {
    let mut session = Session::open().await;
    let begin = Instant::now();
    session.send(&call_with_token(1, "test.patient", json!({"ms": 4500}))).await;
    let mut beats = Vec::new();
    while session.next().await["id"] != 1 {
        beats.push(begin.elapsed());
    }
    assert_eq!(beats.len(), 2, "{beats:?}");
    assert!(beats[0] < Duration::from_secs(2) && beats[1] - beats[0] < Duration::from_secs(2), "{beats:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_frees_the_session_and_is_not_answered() {
    let mut session = Session::open().await;
    for id in 0..12 {
        session.send(&call_with_token(id, "test.patient", json!({"ms": 30000}))).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begin = Instant::now();
    for id in 0..12 {
        session
            .send(
                &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
            )
            .await;
    }
    let answer = session.call(99, "test.echo", json!({"text": "next"})).await;
    assert_eq!(answer["result"]["structuredContent"]["text"], "next");
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_ends_a_call_whether_or_not_the_tool_looks() {
    let options = Options { tool_limit: Duration::from_secs(1), ..Options::default() };
    let mut session = Session::open_with(options).await;
    for name in ["test.patient", "test.deaf"] {
        let begin = Instant::now();
        let answer = session.call(1, name, json!({"ms": 3000})).await;
        let error = &answer["result"]["structuredContent"]["error"];
        assert_eq!(error["kind"], "timeout");
        assert_eq!(error["message"], "Stopped after 1 s.");
        assert!(error["elapsed_ms"].as_u64().unwrap() >= 1000);
        assert!(begin.elapsed() < Duration::from_millis(2700), "{name} {:?}", begin.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_overtake_each_other_and_only_a_few_run_at_once() {
    let mut session = Session::open().await;
    for id in 0..30 {
        session.send(&call(id, "test.deaf", json!({"ms": 60}))).await;
    }
    session.send(&json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"})).await;
    let mut order = Vec::new();
    for _ in 0..31 {
        order.push(session.next().await["id"].clone());
    }
    assert!(order.iter().position(|id| id == "ping").unwrap() < 10, "{order:?}");
    assert!(MOST_ALIVE.load(Ordering::SeqCst) <= 9, "the limit test may hold one more");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_lines_are_answered_or_ignored_and_never_end_the_session() {
    let mut session = Session::start(Options::default());
    // Neither a notification nor an answer before the handshake ends it.
    session.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await;
    session.raw(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n").await;
    session.initialize().await;
    for (line, code) in [
        (&b"{not json\n"[..], json!(-32700)),
        (b"\xff\xfe\x00\n", json!(-32700)),
        (b"[]\n", json!(-32600)),
        (b"42\n", json!(-32600)),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}\n", json!(-32600)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}\n", json!(-32600)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}\n", json!(-32601)),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"arguments\":[]}}\n",
            json!(-32602),
        ),
    ] {
        session.raw(line).await;
        let answer = session.next().await;
        assert_eq!(answer["error"]["code"], code, "{}", String::from_utf8_lossy(line));
    }
    session.raw(b"\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nobody\",\"params\":3}\n").await;
    let nested = format!("{}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    session.raw(nested.as_bytes()).await;
    assert_eq!(session.next().await["error"]["code"], -32700);
    session.call(1, "test.echo", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_line_is_read_and_an_endless_one_skipped() {
    let mut session = Session::open().await;
    let arguments = json!({"text": "x".repeat(20 << 20)});
    let answer = session.call(1, "test.echo", arguments).await;
    assert_eq!(answer["result"]["structuredContent"]["error"]["field"], "text");
    let megabyte = vec![b'x'; 1 << 20];
    for _ in 0..65 {
        session.raw(&megabyte).await;
    }
    assert_eq!(session.next().await["error"]["code"], -32600);
    session.raw(b"still that line\n").await;
    session.call(2, "test.echo", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_input_ends_the_server_within_a_second() {
    let idle = Session::open().await;
    assert!(idle.hang_up().await < Duration::from_secs(1));
    let unopened = Session::start(Options::default());
    assert!(unopened.hang_up().await < Duration::from_secs(1));
    for name in ["test.patient", "test.deaf"] {
        let mut busy = Session::open().await;
        busy.send(&call_with_token(1, name, json!({"ms": 2500}))).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        let took = busy.hang_up().await;
        assert!(took < Duration::from_secs(1), "{name}: {took:?}");
    }
}
