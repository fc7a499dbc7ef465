//! A sysfs `properties` file: lines of a name and a number.

use std::fmt;

/// Name and value pairs in file order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Properties {
    pairs: Vec<(String, Value)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Value {
    Number(u64),
    /// `sibling_map` is a comma list.
    Text(String),
}

impl Properties {
    /// Parses lines "name value".
    ///
    /// # Errors
    /// The first line that is no pair.
    pub fn parse(text: &str) -> Result<Self, String> {
        let pairs = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(parse_line);
        Ok(Self {
            pairs: pairs.collect::<Result<_, _>>()?,
        })
    }

    /// The number named `name`; 0 if there is none, as the thunk reads it.
    pub fn get(&self, name: &str) -> u64 {
        match self.pairs.iter().find(|(key, _)| key == name) {
            Some((_, Value::Number(value))) => *value,
            _ => 0,
        }
    }

    /// As [`Properties::get`], saturated to 32 bits.
    pub fn get_u32(&self, name: &str) -> u32 {
        u32::try_from(self.get(name)).unwrap_or(u32::MAX)
    }

    /// Changes or appends a number.
    pub fn set(&mut self, name: &str, value: u64) {
        match self.pairs.iter_mut().find(|(key, _)| key == name) {
            Some(pair) => pair.1 = Value::Number(value),
            None => self.pairs.push((name.to_owned(), Value::Number(value))),
        }
    }

    /// [`Properties::set`] for several, by value.
    #[must_use]
    pub fn with(mut self, changes: &[(&str, u64)]) -> Self {
        for (name, value) in changes {
            self.set(name, *value);
        }
        self
    }
}

fn parse_line(line: &str) -> Result<(String, Value), String> {
    let (name, value) = line
        .trim()
        .split_once(' ')
        .ok_or_else(|| format!("no value in {line:?}"))?;
    let value = value.trim();
    let parsed = match value.parse() {
        Ok(number) => Value::Number(number),
        Err(_) if value.bytes().all(|b| b.is_ascii_digit() || b == b',') && value.contains(',') => {
            Value::Text(value.to_owned())
        }
        Err(_) => return Err(format!("no number in {line:?}")),
    };
    Ok((name.to_owned(), parsed))
}

impl fmt::Display for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.pairs {
            match value {
                Value::Number(number) => writeln!(f, "{name} {number}")?,
                Value::Text(text) => writeln!(f, "{name} {text}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_a_round_trip() {
        let text = "level 1\nunique_id 18446744073709551615\nsibling_map 1,0,1\n";
        assert_eq!(Properties::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn malformed_lines_are_named() {
        assert!(Properties::parse("level").unwrap_err().contains("level"));
        assert!(
            Properties::parse("level x")
                .unwrap_err()
                .contains("level x")
        );
        assert!(Properties::parse("level -1").is_err());
        assert!(Properties::parse("level 99999999999999999999").is_err());
    }
}
