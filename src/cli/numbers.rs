//! Numbers on the command line that are no fields of a specification, and their bounds.
//!
//! Those of a specification have theirs in its type. Here as there a number that makes no sense, or
//! that no memory would do for, is refused before anything is read, and the message names the
//! option.

use std::ops::RangeInclusive;
use std::str::FromStr;
#[cfg(feature = "serve")]
use std::time::Duration;

use clap::builder::ValueParser;

use probity::run::specification::Bytes;
#[cfg(feature = "serve")]
use probity::run::specification::Seconds;
use probity::tensor::device::most_threads;

/// Where the pool of threads looks.
const RAYON: &str = "RAYON_NUM_THREADS";

/// Rows that are made or drawn at most: they take gigabytes.
pub(super) const MOST_ROWS: u64 = 10_000_000;

/// The largest seed: a specification, in TOML, has no larger whole number.
const MOST_SEED: u64 = i64::MAX.unsigned_abs();

/// A whole number within `bounds`, which are within those of its type.
pub(super) fn whole<N>(bounds: RangeInclusive<u64>) -> ValueParser
where
    N: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    ValueParser::from(move |text: &str| {
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        let number = number.and_then(|number| N::try_from(number).ok());
        let (least, most) = (bounds.start(), bounds.end());
        number.ok_or_else(|| format!("a whole number from {least} to {most} is expected"))
    })
}

/// A number within `bounds`.
pub(super) fn number(bounds: RangeInclusive<f64>) -> ValueParser {
    ValueParser::from(move |text: &str| {
        let number = f64::from_str(text).ok();
        let (least, most) = (bounds.start(), bounds.end());
        let expected = || match *least > 0.0 && *least < 1e-6 {
            true => format!("a number from {least:e} to {most} is expected"),
            false => format!("a number from {least} to {most} is expected"),
        };
        number
            .filter(|number| bounds.contains(number))
            .ok_or_else(expected)
    })
}

/// A seed.
pub(super) fn seed() -> ValueParser {
    whole::<u64>(0..=MOST_SEED)
}

/// A number of threads.
pub(super) fn threads() -> ValueParser {
    whole::<u16>(1..=most_threads() as u64)
}

/// The pool of threads reads its environment where no option says how many they are.
///
/// # Errors
/// When that asks for more than an option may.
pub(super) fn expect_threads_of_environment() -> anyhow::Result<()> {
    let asked = std::env::var(RAYON).ok();
    let asked = asked.and_then(|asked| asked.parse::<usize>().ok());
    match asked.filter(|&asked| asked > most_threads()) {
        None => Ok(()),
        Some(asked) => anyhow::bail!("{RAYON} is {asked}, must be at most {}", most_threads()),
    }
}

/// A number of bytes, as in a specification.
pub(super) fn bytes() -> ValueParser {
    ValueParser::from(|text: &str| -> Result<u64, String> {
        let bytes: Result<Bytes, String> = text.parse();
        bytes
            .map(Bytes::get)
            .map_err(|expected| format!("{expected} is expected"))
    })
}

/// A span of time, as in a specification.
#[cfg(feature = "serve")]
pub(super) fn time() -> ValueParser {
    ValueParser::from(|text: &str| -> Result<Duration, String> {
        let time: Result<Seconds, String> = text.parse();
        time.map(Seconds::duration)
            .map_err(|expected| format!("{expected} is expected"))
    })
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;

    use clap::error::ErrorKind;
    use clap::{Arg, Command};

    use super::*;
    use crate::cli::definition;

    /// Options whose numbers are names: any is right.
    const NAMES: [&str; 1] = ["--ids"];
    /// Options whose numbers are those of a user's column: any that a column may hold.
    const OF_COLUMNS: [&str; 1] = ["--label-threshold"];

    /// An option that takes a number, with the commands before it.
    struct NumberOption {
        words: Vec<String>,
        flag: String,
        /// Of a specification, whose type has its bounds.
        is_field: bool,
    }

    /// The options of `command`, below the commands `words`, that take numbers.
    fn collect(command: &Command, words: &[String], found: &mut Vec<NumberOption>) {
        for argument in command.get_arguments() {
            let flag = match (argument.get_long(), argument.get_short()) {
                (Some(long), _) => format!("--{long}"),
                (None, Some(short)) => format!("-{short}"),
                (None, None) => continue,
            };
            let is_field = is_number_field(argument);
            if is_field || is_number(argument) {
                found.push(NumberOption {
                    words: words.to_vec(),
                    flag,
                    is_field,
                });
            }
        }
        for inner in command.get_subcommands() {
            let words = [words, &[inner.get_name().to_owned()]].concat();
            collect(inner, &words, found);
        }
    }

    fn is_number(argument: &Arg) -> bool {
        let of = argument.get_value_parser().type_id();
        let numbers = [
            TypeId::of::<u8>(),
            TypeId::of::<u16>(),
            TypeId::of::<u32>(),
            TypeId::of::<u64>(),
            TypeId::of::<usize>(),
            TypeId::of::<i32>(),
            TypeId::of::<i64>(),
            TypeId::of::<f32>(),
            TypeId::of::<f64>(),
            TypeId::of::<Duration>(),
        ];
        argument.get_action().takes_values() && numbers.iter().any(|&number| of == number)
    }

    fn is_number_field(argument: &Arg) -> bool {
        let of = argument.get_value_parser().type_id();
        let shown = argument.get_value_names().unwrap_or_default();
        let is_shown = shown
            .iter()
            .any(|name| matches!(name.trim_end_matches(",…"), "N" | "NUMBER"));
        is_shown && of == TypeId::of::<serde_json::Value>()
    }

    /// What the option says against `value`; nothing where it takes it.
    fn refusal(command: &Command, option: &NumberOption, value: &str) -> Option<String> {
        let words = option.words.iter().map(String::as_str);
        let words = ["probity"].into_iter().chain(words);
        let words = words.chain([option.flag.as_str(), value]);
        let error = command.clone().try_get_matches_from(words).err()?;
        match error.kind() {
            ErrorKind::ValueValidation | ErrorKind::InvalidValue => Some(error.to_string()),
            // Everything else that the command needs is left out here.
            ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => None,
            _ => panic!("{:?} {}: {error}", option.words, option.flag),
        }
    }

    /// What is no number is refused by the option's name; so are, of the options that are no fields
    /// of a specification, numbers that are larger than anything can be, or below zero.
    #[test]
    fn every_option_refuses_what_is_no_number_and_has_bounds() {
        let definition = definition();
        let mut options = Vec::new();
        collect(&definition, &[], &mut options);
        let fields = options.iter().filter(|option| option.is_field).count();
        assert!(fields > 100 && options.len() > fields + 30, "{fields}");
        for option in &options {
            let name = |value: &str| format!("{:?} {} {value}", option.words, option.flag);
            for value in ["nan", "inf", "-inf", "many", "", "0x10", "1e999"] {
                let refusal = refusal(&definition, option, value);
                let refusal = refusal.unwrap_or_else(|| panic!("{}", name(value)));
                assert!(refusal.contains(&option.flag), "{}: {refusal}", name(value));
            }
            if option.is_field || NAMES.contains(&option.flag.as_str()) {
                continue;
            }
            let is_of_column = OF_COLUMNS.contains(&option.flag.as_str());
            let huge = ["1e308", "9223372036854775808", "18446744073709551615"];
            let below = ["-1"].into_iter().filter(|_| !is_of_column);
            for value in huge.into_iter().chain(below) {
                let refusal = refusal(&definition, option, value);
                assert!(refusal.is_some(), "{}", name(value));
            }
            let is_seed = option.flag == "--seed";
            for value in ["4294967296", "9007199254740993", "9223372036854775807"] {
                let is_refused = refusal(&definition, option, value).is_some();
                let is_size = option.flag.starts_with("--max-") || option.flag.contains("memory");
                let is_bounded = is_refused || is_seed || is_size || is_of_column;
                assert!(is_bounded, "{}", name(value));
            }
        }
    }
}
