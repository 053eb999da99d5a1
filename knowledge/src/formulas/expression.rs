//! Arithmetic over named values: numbers, names, `+ - * /` and parentheses.

/// An expression cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(String);

/// A parsed expression, in postfix order.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Number(f64),
    Name(String),
    Apply(char),
}

impl Expression {
    /// Parses a text.
    ///
    /// # Errors
    /// Says what was unexpected.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        // Shunting-yard: expressions come from fact files, but depth costs heap here, never stack.
        let mut steps = Vec::new();
        let mut waiting: Vec<char> = Vec::new();
        let mut wants_value = true;
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
            let length =
                if part(first) { rest.find(|c| !part(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
            let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            match first {
                '(' if wants_value => waiting.push('('),
                ')' if !wants_value => loop {
                    match waiting.pop() {
                        Some('(') => break,
                        Some(operator) => steps.push(Step::Apply(operator)),
                        None => return Err(ParseError("a parenthesis closes nothing".to_owned())),
                    }
                },
                '+' | '-' | '*' | '/' if !wants_value => {
                    while let Some(top) = waiting.last().copied()
                        && rank(top) >= rank(first)
                    {
                        waiting.pop();
                        steps.push(Step::Apply(top));
                    }
                    waiting.push(first);
                    wants_value = true;
                }
                c if part(c) && wants_value => {
                    steps.push(if c.is_ascii_digit() {
                        Step::Number(token.parse().map_err(|_| ParseError(format!("{token} is no number")))?)
                    } else {
                        Step::Name(token.to_owned())
                    });
                    wants_value = false;
                }
                _ => return Err(ParseError(format!("unexpected {token}"))),
            }
            rest = after.trim_start();
        }
        if wants_value {
            return Err(ParseError("the expression ends too early".to_owned()));
        }
        while let Some(operator) = waiting.pop() {
            if operator == '(' {
                return Err(ParseError("a parenthesis is not closed".to_owned()));
            }
            steps.push(Step::Apply(operator));
        }
        Ok(Self { steps })
    }

    /// Names it uses, each once, in order of appearance.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for step in &self.steps {
            if let Step::Name(name) = step
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }

    /// The value; `None` when a name has none, or when the result is not finite (a division by zero).
    pub fn evaluate(&self, values: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        let mut stack: Vec<f64> = Vec::new();
        for step in &self.steps {
            let value = match step {
                Step::Number(number) => *number,
                Step::Name(name) => values(name)?,
                Step::Apply(operator) => {
                    let right = stack.pop()?;
                    let left = stack.pop()?;
                    match operator {
                        '+' => left + right,
                        '-' => left - right,
                        '*' => left * right,
                        _ => left / right,
                    }
                }
            };
            stack.push(value);
        }
        stack.pop().filter(|value| value.is_finite())
    }
}

fn rank(operator: char) -> u8 {
    match operator {
        '*' | '/' => 2,
        '+' | '-' => 1,
        _ => 0,
    }
}
