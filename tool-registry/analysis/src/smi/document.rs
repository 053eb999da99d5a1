//! Splits a log into JSON documents and hands out the elements of lists one by one, so that a log of any length takes
//! the memory of one element.

use serde_json::Value;

/// The documents of a log, in order.
pub(super) struct Documents<'a> {
    text: &'a [u8],
    at: usize,
}

/// Walks JSON text bracket by bracket, outside of strings.
#[derive(Default)]
struct Brackets {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Brackets {
    fn step(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

impl<'a> Documents<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Hands the next document to `take`: an object as a whole, a list element by element. `Ok(false)` when there is
    /// none left; what was handed out before an error is to be dropped.
    ///
    /// # Errors
    /// The byte at which the document is broken or ends too early.
    pub(super) fn next_with(&mut self, mut take: impl FnMut(&Value)) -> Result<bool, usize> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(skipped) = rest.iter().position(|byte| matches!(byte, b'{' | b'[')) else {
            return Ok(false);
        };
        let start = self.at + skipped;
        let body = self.text.get(start..).unwrap_or_default();
        let is_list = body.first() == Some(&b'[');
        let mut brackets = Brackets::default();
        let mut element = 1;
        for (offset, byte) in body.iter().enumerate() {
            brackets.step(*byte);
            let ends = brackets.depth == 0 && !brackets.in_string;
            let separates = *byte == b',' && brackets.depth == 1 && !brackets.in_string;
            if is_list && (ends || separates) {
                let slice = body.get(element..offset).unwrap_or_default();
                let is_empty_list = ends && element == 1 && slice.iter().all(u8::is_ascii_whitespace);
                if !is_empty_list {
                    take(&serde_json::from_slice(slice).map_err(|_| start + element)?);
                }
                element = offset + 1;
            } else if ends {
                let slice = body.get(..=offset).unwrap_or_default();
                take(&serde_json::from_slice(slice).map_err(|_| start)?);
            }
            if ends {
                self.at = start + offset + 1;
                return Ok(true);
            }
        }
        Err(self.text.len())
    }
}
