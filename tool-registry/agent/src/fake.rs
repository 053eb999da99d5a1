//! Stand-ins for tests: a scripted model server on loopback, a clock that does not wait, a toolbox, the demo pack.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::agent::run::ProviderName;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::*;

/// What the server does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Status, headers, body.
    Full(u16, Vec<(&'static str, String)>, String),
    /// Nothing, for ever.
    Hang,
    /// Closes without a byte.
    Close,
    /// Half of the promised body.
    Half(String),
    /// One byte of the body every so often.
    Slow(Duration),
}

impl Answer {
    pub(crate) fn json(status: u16, body: Value) -> Self {
        Self::Full(status, vec![], body.to_string())
    }

    pub(crate) fn with(status: u16, header: &'static str, value: &str, body: Value) -> Self {
        Self::Full(status, vec![(header, value.to_owned())], body.to_string())
    }
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
    pub(crate) raw: String,
}

/// A scripted server; past its script it answers 500.
pub(crate) struct Fake {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Fake {
    pub(crate) async fn start(script: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let script = Arc::new(Mutex::new(VecDeque::from(script)));
        let record = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (record, script) = (Arc::clone(&record), Arc::clone(&script));
                tokio::spawn(serve(stream, record, script));
            }
        });
        Self { url, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin>(
    mut stream: S,
    record: Arc<Mutex<Vec<Seen>>>,
    script: Arc<Mutex<VecDeque<Answer>>>,
) {
    let Some(seen) = read_request(&mut stream).await else { return };
    record.lock().unwrap().push(seen);
    let answer = script.lock().unwrap().pop_front();
    let answer =
        answer.unwrap_or_else(|| Answer::json(500, json!({"error": {"message": "past the script"}})));
    let head = |status: u16, length: usize, extra: &[(&'static str, String)]| {
        let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n");
        for (name, value) in extra {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head + "\r\n"
    };
    match answer {
        Answer::Full(status, headers, body) => {
            let _ = stream.write_all(head(status, body.len(), &headers).as_bytes()).await;
            let _ = stream.write_all(body.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Answer::Hang => tokio::time::sleep(Duration::from_secs(3600)).await,
        Answer::Close => {}
        Answer::Half(body) => {
            let _ = stream.write_all(head(200, body.len() * 2, &[]).as_bytes()).await;
            let _ = stream.write_all(body.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Answer::Slow(pause) => {
            let _ = stream.write_all(head(200, 1000, &[]).as_bytes()).await;
            for _ in 0..1000 {
                tokio::time::sleep(pause).await;
                if stream.write_all(b" ").await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn read_request<S: tokio::io::AsyncRead + Unpin>(stream: &mut S) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut chunk = [0u8; 8192];
    let split = loop {
        let read = stream.read(&mut chunk).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..split]).into_owned();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    while bytes.len() < split + 4 + length {
        let read = stream.read(&mut chunk).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
    }
    let body = String::from_utf8_lossy(&bytes[split + 4..]).into_owned();
    Some(Seen {
        path,
        headers,
        body: serde_json::from_str(&body).unwrap_or(Value::Null),
        raw: format!("{head}\n\n{body}"),
    })
}

/// The same server behind a self-signed certificate; also gives the certificate as PEM.
pub(crate) async fn tls_fake(script: Vec<Answer>) -> (Fake, String) {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let script = Arc::new(Mutex::new(VecDeque::from(script)));
    let record = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (record, script, acceptor) = (Arc::clone(&record), Arc::clone(&script), acceptor.clone());
            tokio::spawn(async move {
                let accepted: Result<tokio_rustls::server::TlsStream<TcpStream>, _> =
                    acceptor.accept(stream).await;
                if let Ok(stream) = accepted {
                    serve(stream, record, script).await;
                }
            });
        }
    });
    (Fake { url, seen }, made.cert.pem())
}

/// A clock that notes every wait and waits for none.
#[derive(Default)]
pub(crate) struct FakeClock {
    pub(crate) waits: Mutex<Vec<Duration>>,
}

/// The wall time of every test: 2026-01-01 00:00:00 UTC.
pub(crate) const WALL_S: u64 = 1_767_225_600;

impl Clock for FakeClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(WALL_S)
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.waits.lock().unwrap().push(time);
        Box::pin(async {})
    }

    fn jitter(&self) -> f64 {
        1.0
    }
}

/// Answers every tool with its own name and arguments, and notes the calls.
#[derive(Default)]
pub(crate) struct EchoBox {
    pub(crate) calls: Mutex<Vec<(String, Value)>>,
}

impl Toolbox for EchoBox {
    fn describe(&self, tool: &str) -> Option<ToolSpec> {
        Some(ToolSpec {
            name: tool.to_owned(),
            description: format!("Answers {tool}."),
            input_schema: json!({"type": "object", "properties": {}}),
        })
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Value,
        _cx: &'a CallCx,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        Box::pin(async move {
            self.calls.lock().unwrap().push((tool.to_owned(), arguments.clone()));
            if arguments.get("fail").is_some() {
                return Err(ToolFailure(ErrorObject::invalid("fail", "It failed.", "Do not.")));
            }
            Ok(json!({"tool": tool, "arguments": arguments}))
        })
    }
}

/// Collects phases.
#[derive(Default)]
pub(crate) struct Phases(pub(crate) Mutex<Vec<String>>);

impl Progress for Phases {
    fn say(&self, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

pub(crate) const ANALYSIS: AgentSpec = AgentSpec::new(
    "agent.analysis",
    1,
    &["regression.identify_hot_kernels", "roofline.classify"],
    PromptId::new("analysis"),
    false,
);
pub(crate) const COMPUTE: AgentSpec = AgentSpec::new(
    "agent.compute_specialist",
    2,
    &["arch.lookup_peaks"],
    PromptId::new("compute_specialist"),
    true,
);

pub(crate) const DETERMINISTIC: &str = "Limited by compute (valu): `gemm_f16_naive` keeps the vector units busy 78.0% of \
     its time at 12.0% of peak HBM bandwidth and takes 94.9% of kernel time.";

/// The evidence of the analysis example.
pub(crate) fn pack() -> EvidencePack {
    let item = |id: &str, label: &str, value: EvidenceValue, unit: &str| PackEvidence {
        id: id.to_owned(),
        label: label.to_owned(),
        value,
        unit: unit.to_owned(),
    };
    let number = EvidenceValue::Number;
    EvidencePack {
        verdict: Some(PackVerdict {
            primary_bottleneck: "compute".to_owned(),
            bottleneck_detail: Some("valu".to_owned()),
            confidence: 0.73,
            reasons: vec![],
            contradictions: vec![],
            runner_up: None,
        }),
        time: Some(PackTime {
            kernel_pct: 73.75,
            memcpy_pct: 14.5,
            api_pct: 8.0,
            idle_pct: 3.75,
            window_ns: 120_000_000,
        }),
        kernels: vec![PackKernel {
            handle: "k1".to_owned(),
            name: "gemm_f16_naive".to_owned(),
            calls: 48,
            total_duration: 84_000_000,
            pct_of_runtime: 70.0,
            metrics: vec![("valu_util".to_owned(), number(0.78)), ("mfma_util".to_owned(), number(0.0))],
        }],
        evidence: vec![
            item("m.kernel_pct", "a kernel running", number(73.75), "%"),
            item("m.memcpy_pct", "copy without kernel", number(14.5), "%"),
            item("m.percent_of_total@k1", "share of kernel time, `gemm_f16_naive`", number(94.92), "%"),
            item("m.primary_bottleneck", "verdict", EvidenceValue::Text("compute".to_owned()), "label"),
            item("m.valu_util@k1", "VALU utilization, `gemm_f16_naive`", number(0.78), "fraction"),
            item("m.window_ns", "GPU time", EvidenceValue::Integer(120_000_000), "ns"),
            item("m.calls@k1", "dispatches", EvidenceValue::Integer(48), "count"),
            item("m.hbm_gbps", "achieved bandwidth", number(636.25), "GB/s"),
            item("m.moved", "bytes moved", EvidenceValue::Integer(402_653_184), "B"),
            item("m.wall_delta", "change of elapsed time", number(-12.3), "%"),
            item("m.gain", "bound of the gain", number(1.42), "x"),
        ],
        entries: vec![PackEntry {
            key: "ROCPD-MFMA-001".to_owned(),
            evidence: vec!["m.valu_util@k1".to_owned()],
            title: "Use matrix instructions in `gemm_f16_naive`".to_owned(),
            gain: None,
            status: None,
            preconditions: vec![],
        }],
        ..EvidencePack::default()
    }
}

pub(crate) fn lexicon() -> Lexicon {
    Lexicon {
        flags: vec!["-O3".to_owned(), "--offload-arch".to_owned()],
        names: vec!["hipMemcpy".to_owned()],
        labels: vec![],
        fact_ids: vec!["technique.lds_tiling".to_owned()],
    }
}

pub(crate) fn roots() -> Vec<PathRoot> {
    vec![
        PathRoot {
            token: "@db".to_owned(),
            pack_key: "database".to_owned(),
            as_given: "runs/demo_gemm.db".to_owned(),
            absolute: Some("/home/planted-home/work/runs/demo_gemm.db".to_owned()),
        },
        PathRoot {
            token: "@src".to_owned(),
            pack_key: "source".to_owned(),
            as_given: "/home/planted-home/work/code".to_owned(),
            absolute: None,
        },
    ]
}

pub(crate) const PROMPTS: PromptFiles<'static> =
    PromptFiles { always: "Word what the evidence holds.", agent: "Explain the verdict.", lane: "Propose." };

/// A request of the analysis agent over the demo pack.
pub(crate) fn request<'a>(
    pack: &'a EvidencePack,
    lexicon: &'a Lexicon,
    roots: &'a [PathRoot],
) -> RunRequest<'a> {
    RunRequest {
        agent: &ANALYSIS,
        prompts: PROMPTS,
        pack,
        lexicon,
        roots,
        narrative: DETERMINISTIC,
        lead_id: Some("m.primary_bottleneck"),
        titles: true,
        lane: None,
        session_id: None,
        creativity: None,
        thinking_tokens: None,
        max_output_tokens: None,
        on_failure: OnFailure::Fallback,
        preview: false,
        trace_fingerprint: None,
        catalog_sha256: None,
    }
}

pub(crate) fn facts() -> LlmFacts {
    let models = [
        (ProviderName::Anthropic, "claude-sonnet-4-20250514"),
        (ProviderName::OpenAi, "gpt-4o-mini"),
        (ProviderName::Ollama, "llama3.1"),
    ];
    LlmFacts {
        models: models.into_iter().map(|(name, model)| (name, model.to_owned())).collect(),
        quirks: vec![],
        quota_messages: vec![
            "Your credit balance is too low".to_owned(),
            "You have reached your specified API usage limits".to_owned(),
        ],
    }
}

pub(crate) fn settings(environment: &[(&str, &str)]) -> Settings {
    let map = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Settings::from_map(&map, &ConfigValues::default(), facts())
}

pub(crate) const KEY: &str = "planted-credential-0123456789";

/// The variables that point a provider at an address.
pub(crate) fn environment(name: ProviderName, url: &str) -> Vec<(&'static str, String)> {
    let key = KEY.to_owned();
    match name {
        ProviderName::Anthropic => vec![("ANTHROPIC_BASE_URL", url.to_owned()), ("ANTHROPIC_API_KEY", key)],
        ProviderName::OpenAi => vec![("OPENAI_BASE_URL", format!("{url}/v1")), ("OPENAI_API_KEY", key)],
        ProviderName::Ollama => {
            vec![("PERFXPERT_LLM_LOCAL_URL", url.to_owned()), ("PERFXPERT_LLM_OLLAMA_KEY", key)]
        }
        ProviderName::Private => vec![
            ("PERFXPERT_LLM_PRIVATE_URL", format!("{url}/v1/chat/completions")),
            ("PERFXPERT_LLM_PRIVATE_API_KEY", key),
            ("PERFXPERT_LLM_PRIVATE_MODEL", "house-model".to_owned()),
        ],
        ProviderName::OpenCode => vec![],
    }
}

/// The three HTTP dialects, four providers.
pub(crate) const HTTP: [ProviderName; 4] =
    [ProviderName::Anthropic, ProviderName::OpenAi, ProviderName::Private, ProviderName::Ollama];

/// A reply with text and tool calls in a provider's form.
pub(crate) fn reply(name: ProviderName, text: &str, calls: &[(&str, Value)]) -> Value {
    match name {
        ProviderName::Anthropic => {
            let mut content = Vec::new();
            if !text.is_empty() {
                content.push(json!({"type": "text", "text": text}));
            }
            for (i, (tool, input)) in calls.iter().enumerate() {
                content.push(
                    json!({"type": "tool_use", "id": format!("toolu_{i}"), "name": tool, "input": input}),
                );
            }
            let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
            json!({"content": content, "stop_reason": stop, "model": "claude-sonnet-4-20250514",
                   "usage": {"input_tokens": 2310, "output_tokens": 188}})
        }
        ProviderName::Ollama => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|(tool, input)| json!({"function": {"name": tool, "arguments": input}}))
                .collect();
            json!({"message": {"role": "assistant", "content": text, "tool_calls": calls}, "done": true,
                   "done_reason": "stop", "prompt_eval_count": 2310, "eval_count": 188})
        }
        _ => {
            let calls: Vec<Value> = calls
                .iter()
                .enumerate()
                .map(|(i, (tool, input))| {
                    json!({"id": format!("call_{i}"), "type": "function",
                           "function": {"name": tool, "arguments": input.to_string()}})
                })
                .collect();
            let mut message = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                message["tool_calls"] = json!(calls);
            }
            json!({"choices": [{"message": message, "finish_reason": "stop"}],
                   "usage": {"prompt_tokens": 2310, "completion_tokens": 188}})
        }
    }
}

/// An answer with one good claim.
pub(crate) fn good() -> Value {
    json!({"claims": [{"text": "Copies that nothing hides cost another 14.5% of the run.", "cites": ["m.memcpy_pct", "m.primary_bottleneck"]}]})
}

pub(crate) const GOOD_TEXT: &str = "Copies that nothing hides cost another 14.5% of the run.";

/// A runtime over an environment, with its clock.
pub(crate) fn runtime(environment: &[(&str, String)]) -> (Runtime, Arc<FakeClock>) {
    let borrowed: Vec<(&str, &str)> =
        environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut settings = settings(&borrowed);
    settings.budgets.attempt_time = Some(Duration::from_secs(3));
    let clock = Arc::new(FakeClock::default());
    (Runtime::with_clock(settings, Arc::clone(&clock) as Arc<dyn Clock>), clock)
}

pub(crate) fn cx<'a>() -> RunCx<'a> {
    RunCx { cancel: CancellationToken::new(), progress: None }
}

pub(crate) fn ask_for(name: ProviderName) -> ModelChoice {
    ModelChoice { provider: Some(name.as_str().to_owned()), model: None, airgap: false }
}

/// Runs the demo request against one provider and a script.
pub(crate) struct Run {
    pub(crate) outcome: Result<RunOutcome, ErrorObject>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) waits: Vec<Duration>,
    pub(crate) tools: Vec<(String, Value)>,
}

impl Run {
    pub(crate) fn attempt(&self) -> (String, Option<u16>, u32, String) {
        let run = &self.outcome.as_ref().unwrap().run;
        let attempt = run.attempts.first().unwrap();
        (attempt.outcome.as_str().to_owned(), attempt.status, attempt.retries, attempt.message.clone())
    }

    pub(crate) fn ok(&self) -> &RunOutcome {
        self.outcome.as_ref().unwrap()
    }
}

pub(crate) async fn run(name: ProviderName, script: Vec<Answer>) -> Run {
    run_with(name, script, &[], |_| {}).await
}

pub(crate) async fn run_with(
    name: ProviderName,
    script: Vec<Answer>,
    more: &[(&'static str, String)],
    change: impl FnOnce(&mut RunRequest<'_>),
) -> Run {
    let fake = Fake::start(script).await;
    let mut variables = environment(name, &fake.url);
    variables.extend(more.iter().cloned());
    let (runtime, clock) = runtime(&variables);
    let (pack, lexicon, roots, toolbox) = (pack(), lexicon(), roots(), EchoBox::default());
    let mut request = request(&pack, &lexicon, &roots);
    change(&mut request);
    let outcome = match runtime.preflight(&ask_for(name)) {
        Ok(plan) => runtime.run(&plan, &request, &toolbox, &cx()).await,
        Err(error) => Err(error),
    };
    Run {
        outcome,
        seen: fake.seen(),
        waits: clock.waits.lock().unwrap().clone(),
        tools: toolbox.calls.lock().unwrap().clone(),
    }
}
