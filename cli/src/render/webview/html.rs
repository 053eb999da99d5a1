//! A typed HTML writer: everything that came from data is escaped once, where it is inserted.

/// A document under construction.
#[derive(Default)]
pub struct Html {
    out: String,
}

/// Attributes of an element.
pub type Attributes<'a> = &'a [(&'a str, &'a str)];

impl Html {
    /// Opens an element.
    pub fn open(&mut self, tag: &str, attributes: Attributes<'_>) -> &mut Self {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            escape_into(&mut self.out, value);
            self.out.push('"');
        }
        self.out.push('>');
        self
    }

    /// Closes an element.
    pub fn close(&mut self, tag: &str) -> &mut Self {
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
        self
    }

    /// Text, escaped.
    pub fn text(&mut self, text: &str) -> &mut Self {
        escape_into(&mut self.out, text);
        self
    }

    /// An element with text.
    pub fn leaf(&mut self, tag: &str, attributes: Attributes<'_>, text: &str) -> &mut Self {
        self.open(tag, attributes).text(text).close(tag)
    }

    /// Prose: text between backticks becomes `<code>`.
    pub fn prose(&mut self, tag: &str, attributes: Attributes<'_>, text: &str) -> &mut Self {
        self.open(tag, attributes);
        let parts: Vec<&str> = text.split('`').collect();
        // An even number of parts has an unpaired backtick at its end, which stays text.
        let paired = if parts.len() % 2 == 1 { parts.len() } else { parts.len() - 1 };
        for (index, part) in parts.iter().enumerate() {
            if index >= paired {
                self.text("`").text(part);
            } else if index % 2 == 1 {
                self.leaf("code", &[], part);
            } else {
                self.text(part);
            }
        }
        self.close(tag)
    }

    /// Constant text of the program, such as the style sheet; never data.
    pub fn constant(&mut self, text: &'static str) -> &mut Self {
        self.out.push_str(text);
        self
    }

    /// JSON for a script element of type `application/json`.
    pub fn json(&mut self, json: &str) -> &mut Self {
        for letter in json.chars() {
            match letter {
                '<' => self.out.push_str("\\u003c"),
                '>' => self.out.push_str("\\u003e"),
                '&' => self.out.push_str("\\u0026"),
                '\u{2028}' => self.out.push_str("\\u2028"),
                '\u{2029}' => self.out.push_str("\\u2029"),
                _ => self.out.push(letter),
            }
        }
        self
    }

    /// The document.
    pub fn finish(self) -> String {
        self.out
    }
}

fn escape_into(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {
                out.push_str(&format!("\\x{:02x}", u32::from(letter)))
            }
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
            }
            _ => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_never_becomes_markup() {
        let mut page = Html::default();
        page.leaf("td", &[("data-v", "\"><img onerror=alert(1)>")], "</script><script>x").json("</script>&");
        assert_eq!(
            page.finish(),
            "<td data-v=\"&quot;&gt;&lt;img onerror=alert(1)&gt;\">&lt;/script&gt;&lt;script&gt;x</td>\\u003c/script\\u003e\\u0026"
        );
    }

    #[test]
    fn backticks_pair_into_code() {
        let mut page = Html::default();
        page.prose("p", &[], "a `b<c>` d ` e");
        assert_eq!(page.finish(), "<p>a <code>b&lt;c&gt;</code> d ` e</p>");
    }
}
