//! Nothing secret and no path of this machine leaves, whatever happens; with the redactor off the tests notice.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use perfxpert_schemas::tools::agent::run::ProviderName;
use serde_json::json;

use crate::fake::*;
use crate::redact::{Redactor, Scrubber};
use crate::settings::Identity;
use crate::{Clock, ProviderError, Runtime};

const HEADER: &str = "planted-header-value-42";
const PROXY: &str = "planted-proxy-password";
const OTHER: &str = "planted-unrelated-secret";
const HOME: &str = "/home/planted-home";
const LOGIN: &str = "plantedlogin";
const HOST: &str = "plantedhost";

/// Every secret in every encoding.
fn secrets() -> Vec<String> {
    let mut forms = Vec::new();
    for secret in [KEY, HEADER, PROXY, OTHER] {
        forms.push(secret.to_owned());
        forms.push(base64::engine::general_purpose::STANDARD.encode(secret).trim_end_matches('=').to_owned());
    }
    forms
}

fn names() -> Vec<String> {
    [HOME, LOGIN, HOST].map(str::to_owned).to_vec()
}

/// What a scenario left behind: every request and everything an answer may show or log.
struct Traces {
    /// Without the one auth header of each request.
    sent: Vec<String>,
    shown: Vec<String>,
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The evidence with a secret, a home, a login and a host planted wherever a trace has free text.
fn planted_pack() -> crate::EvidencePack {
    let mut pack = pack();
    pack.query = format!("Why? My key is {KEY}, {OTHER} on {HOST}, I am {LOGIN}, see {HOME}/notes/x.txt");
    pack.kernels[0].name = format!("gemm_{KEY}");
    pack.evidence[0].label = format!("a kernel in {HOME}/src/a.hip by {LOGIN}");
    pack
}

async fn scenario(name: ProviderName, script: Vec<Answer>, redacting: bool) -> Traces {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new("trace"))
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let fake = Fake::start(script).await;
    let mut variables = environment(name, &fake.url);
    variables.extend([
        ("UNRELATED_TOKEN", OTHER.to_owned()),
        ("HTTPS_PROXY", format!("http://me:{PROXY}@proxy.example.test:1")),
        ("HOME", HOME.to_owned()),
        ("USER", LOGIN.to_owned()),
        ("HOSTNAME", HOST.to_owned()),
        ("PERFXPERT_LLM_PRIVATE_HEADERS", json!({"X-Team": HEADER}).to_string()),
    ]);
    let borrowed: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut settings = settings(&borrowed);
    settings.budgets.attempt_time = Some(Duration::from_millis(300));
    let scrubber = Arc::new(Scrubber::new(&settings.secrets));
    let identity: Identity = settings.identity.clone();
    let debug = format!("{settings:?}");
    let runtime = Runtime::with_clock(settings, Arc::new(FakeClock::default()) as Arc<dyn Clock>);
    let (pack, lexicon, roots, toolbox) = (planted_pack(), lexicon(), roots(), EchoBox::default());
    let request = request(&pack, &lexicon, &roots);
    let redactor = if redacting {
        Redactor::new(scrubber, &roots, &identity)
    } else {
        Redactor::switched_off(scrubber, &roots, &identity)
    };
    let plan = runtime.preflight(&ask_for(name)).unwrap();
    let outcome = runtime.run_redacted(&plan, &request, &toolbox, &cx(), &redactor).await;
    let sent = fake
        .seen()
        .into_iter()
        .map(|seen| {
            let allowed = [format!("Bearer {KEY}"), format!("x-api-key: {KEY}"), format!("x-team: {HEADER}")];
            let raw = seen.raw.replace("X-Team", "x-team");
            allowed.iter().fold(raw, |raw, header| raw.replacen(header.as_str(), "", 1))
        })
        .collect();
    let outcome = match outcome {
        // The computed narrative is core; everything else here may be shown.
        Ok(outcome) => format!("{} {:?}", serde_json::to_string(&outcome.run).unwrap(), outcome),
        Err(error) => serde_json::to_string(&error).unwrap(),
    };
    let logged = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    Traces { sent, shown: vec![outcome, logged, debug] }
}

/// Every kind of answer a service may give.
fn scripts(name: ProviderName) -> Vec<Vec<Answer>> {
    let echo = format!("Incorrect API key provided: {KEY}, header {HEADER}");
    let good_reply = Answer::json(200, reply(name, &good().to_string(), &[]));
    let mut scripts = vec![
        vec![good_reply.clone()],
        vec![
            Answer::json(
                200,
                reply(
                    name,
                    "",
                    &[("roofline_classify", json!({"database_path": "@db", "note": KEY, "who": LOGIN}))],
                ),
            ),
            good_reply.clone(),
        ],
        vec![Answer::Hang],
        vec![Answer::Half("{".to_owned()); 3],
        vec![Answer::with(302, "location", &format!("http://x.test/?k={KEY}"), json!({}))],
        vec![Answer::Full(
            401,
            vec![("request-id", KEY.to_owned()), ("x-request-id", KEY.to_owned())],
            echo.clone(),
        )],
        vec![Answer::json(200, reply(name, &format!("The key is {KEY}."), &[])); 3],
        vec![Answer::json(
            200,
            reply(
                name,
                &json!({"claims": [{"text": format!("The key is {KEY}."), "cites": ["m.kernel_pct"]}]})
                    .to_string(),
                &[],
            ),
        )],
        vec![Answer::json(200, reply(name, "", &[(&format!("tool_{KEY}"), json!({}))])), good_reply],
    ];
    for status in [400, 401, 403, 404, 413, 429, 500, 529] {
        scripts.push(vec![Answer::json(status, json!({"error": {"message": echo, "type": "x"}})); 3]);
    }
    scripts
}

#[tokio::test]
async fn secrets_never_leak() {
    for name in HTTP {
        for (i, script) in scripts(name).into_iter().enumerate() {
            let traces = scenario(name, script, true).await;
            assert!(!traces.sent.is_empty(), "{name} {i}: control, something was sent");
            for text in traces.sent.iter().chain(&traces.shown) {
                for secret in secrets() {
                    assert!(!text.contains(&secret), "{name} script {i}: {secret} in {text}");
                }
            }
        }
    }
}

#[tokio::test]
async fn paths_and_names_never_leave() {
    for name in HTTP {
        for script in scripts(name).into_iter().take(2) {
            for text in scenario(name, script, true).await.sent {
                for private in names() {
                    assert!(!text.contains(&private), "{name}: {private} in {text}");
                }
                assert!(text.contains("@db"), "control: the tokens stand in their place");
            }
        }
    }
}

#[tokio::test]
async fn with_the_redactor_off_both_searches_find_something() {
    for name in HTTP {
        let script = scripts(name).swap_remove(0);
        let sent = scenario(name, script, false).await.sent.concat();
        assert!(sent.contains(KEY) && sent.contains(OTHER));
        assert!(names().iter().all(|private| sent.contains(private)));
    }
}

#[tokio::test]
async fn logs_hold_no_body() {
    let name = ProviderName::OpenAi;
    let traces = scenario(name, scripts(name).swap_remove(1), true).await;
    let log = &traces.shown[1];
    assert!(log.contains("model service answered"), "control: the log was read");
    for text in ["Copies that nothing hides", "Word what the evidence holds", "gemm_", "valu_util"] {
        assert!(!log.contains(text), "{text}");
    }
}

#[test]
fn an_error_is_scrubbed_before_anyone_sees_it() {
    let error = ProviderError::new(
        crate::FailureKind::Quota,
        ProviderName::OpenAi,
        Some("m"),
        "first\nsecond line with more",
    );
    assert_eq!(error.message, "first");
    let long = ProviderError::new(crate::FailureKind::Quota, ProviderName::OpenAi, None, "x".repeat(500));
    assert_eq!(long.message.chars().count(), 240);
    assert_eq!(long.to_error_object().details["sub_kind"], "quota");
}
