//! Composes a prompt from its files; the words themselves belong to the tool registry.

use sha2::{Digest, Sha256};

/// Name of an agent's prompt file, without its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptId(&'static str);

impl PromptId {
    /// A prompt by name.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// How much of each prompt file is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FenceProfile {
    /// Up to the line `<!-- standard -->`.
    Minimal,
    /// Up to the line `<!-- full -->`.
    #[default]
    Standard,
    /// All of it.
    Full,
}

impl FenceProfile {
    /// Reads the word of the variable or configuration.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "minimal" => Some(Self::Minimal),
            "standard" => Some(Self::Standard),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

/// The texts a prompt is made of.
#[derive(Clone, Copy, Debug)]
pub struct PromptFiles<'a> {
    /// What holds for every agent.
    pub always: &'a str,
    /// What this agent does.
    pub agent: &'a str,
    /// What model-written proposals must look like; used only while they are allowed.
    pub lane: &'a str,
}

/// A prompt ready to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposedPrompt {
    /// Name of the agent's prompt.
    pub id: String,
    /// The text.
    pub text: String,
    /// SHA-256 of the text, lower-case hex.
    pub sha256: String,
}

impl ComposedPrompt {
    /// Joins the files up to the chosen stage and ends with the schema of the answer.
    pub fn compose(id: PromptId, files: PromptFiles<'_>, lane_on: bool, profile: FenceProfile) -> Self {
        let mut parts = vec![staged(files.always, profile), staged(files.agent, profile)];
        if lane_on {
            parts.push(staged(files.lane, profile));
        }
        let schema = crate::reply::reply_schema(lane_on);
        parts.push(format!("The arguments of `submit_answer` follow this JSON schema:\n{schema}"));
        let text = parts.join("\n\n");
        Self { id: id.as_str().to_owned(), sha256: hex_sha256(text.as_bytes()), text }
    }
}

/// The part of a file that a profile uses, without the marks.
fn staged(file: &str, profile: FenceProfile) -> String {
    let mut stage = FenceProfile::Minimal;
    let mut kept = Vec::new();
    for line in file.lines() {
        match line.trim() {
            "<!-- standard -->" => stage = FenceProfile::Standard,
            "<!-- full -->" => stage = FenceProfile::Full,
            _ if stage <= profile => kept.push(line),
            _ => {}
        }
    }
    kept.join("\n").trim().to_owned()
}

/// Lower-case hex of SHA-256.
pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing into a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: PromptFiles<'_> = PromptFiles {
        always: "a1\n<!-- standard -->\na2\n<!-- full -->\na3",
        agent: "b1\n<!-- full -->\nb3",
        lane: "lane",
    };

    #[test]
    fn a_profile_takes_one_two_or_three_stages_and_the_lane_only_when_on() {
        let text = |lane, profile| ComposedPrompt::compose(PromptId::new("x"), FILES, lane, profile).text;
        assert!(text(false, FenceProfile::Minimal).starts_with("a1\n\nb1\n\nThe arguments"));
        assert!(text(false, FenceProfile::Standard).starts_with("a1\na2\n\nb1\n\nThe arguments"));
        assert!(text(true, FenceProfile::Full).starts_with("a1\na2\na3\n\nb1\nb3\n\nlane\n\nThe arguments"));
    }

    #[test]
    fn the_hash_is_that_of_the_text() {
        // SHA-256 of "abc", FIPS 180-2 appendix B.1.
        assert_eq!(hex_sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
