//! Made people whose sex no decision sees, and which yet matters: planted indirect discrimination,
//! with what everybody would have been as somebody of the other sex.
//!
//! ```text
//! sex ──► years of a career break ──► experience ─┐
//!     ├─► hours given up for care ──► hours ──────┼──► score ≥ bar ──► hired
//!     └─► club (choir, chess, football) ──────────┘
//! age, education ─────────────────────────────────┘      (independent of sex)
//! ```
//!
//! Everything random about a person is drawn whatever their sex, so the person of the other sex with
//! the same draws is the true counterfactual (Pearl 2009, chapter 7: abduction, action, prediction).
//! The breaks, the hours and the difference between the clubs are scaled by the *effect*: with 0 sex
//! has no influence at all.

use std::io::{self, Write};

use rand::RngExt;

use probity_run::stream::{Purpose, stream};

/// The score from which somebody is hired.
const BAR: i32 = 88;

/// What a football player gets on top of merit.
const FOOTBALL: i32 = 6;

/// The schema of these people, in which sex is protected.
pub const SCHEMA: &str = r#"name = "hidden people"

[label]
name = "hired"
classes = ["no", "yes"]

[[attribute]]
name = "age"
kind = "integer"
min = 20
max = 65

[[attribute]]
name = "education"
kind = "integer"
min = 8
max = 20

[[attribute]]
name = "experience"
kind = "integer"
min = 0
max = 51

[[attribute]]
name = "hours"
kind = "integer"
min = 20
max = 45

[[attribute]]
name = "club"
kind = "categorical"
levels = ["choir", "chess", "football"]

[[attribute]]
name = "sex"
kind = "categorical"
levels = ["female", "male"]
protected = true
"#;

/// The names of the columns.
const COLUMNS: [&str; 7] = [
    "age",
    "education",
    "experience",
    "hours",
    "club",
    "sex",
    "hired",
];

/// The step of the streams of these people, beside those of the synthetic census.
const STEP: u64 = 1;

/// A made person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenPerson {
    /// The age in years, 20 to 65.
    pub age: i32,
    /// The years of education, 8 to 20.
    pub education: i32,
    /// The years of experience, 0 to 51.
    pub experience: i32,
    /// The hours of work in a week, 20 to 45.
    pub hours: i32,
    /// The club.
    pub club: &'static str,
    /// Whether the person is a woman.
    pub is_female: bool,
}

/// What is drawn of a person, whatever their sex.
struct Draws {
    is_female: bool,
    age: i32,
    education: i32,
    break_years: i32,
    hours: i32,
    hours_given_up: i32,
    taste: f64,
}

impl Draws {
    fn new(seed: u64, item: u64) -> Draws {
        let mut stream = stream(seed, Purpose::Synthetic, item, STEP);
        Draws {
            is_female: stream.random(),
            age: stream.random_range(20..=65),
            education: 8 + (0..4).map(|_| stream.random_range(0..=3)).sum::<i32>(),
            break_years: stream.random_range(0..=10),
            hours: 35 + stream.random_range(0..=10),
            hours_given_up: stream.random_range(0..=15),
            taste: stream.random(),
        }
    }

    /// The person with these draws who is a woman or not, where sex has the influence `effect`, from 0
    /// to 1.
    fn person(&self, is_female: bool, effect: f64) -> HiddenPerson {
        let scaled = |amount: i32| match is_female {
            true => (f64::from(amount) * effect).round() as i32,
            false => 0,
        };
        // Three in ten of each sex play chess; of the others more women sing, and more men play
        // football.
        let tilt = if is_female { 0.15 } else { -0.15 };
        let choir = 0.35 + tilt * effect;
        let club = match self.taste {
            taste if taste < choir => "choir",
            taste if taste < choir + 0.3 => "chess",
            _ => "football",
        };
        HiddenPerson {
            age: self.age,
            education: self.education,
            experience: (self.age - self.education - 6 - scaled(self.break_years)).max(0),
            hours: self.hours - scaled(self.hours_given_up),
            club,
            is_female,
        }
    }
}

impl HiddenPerson {
    /// Returns whether the person is hired: the rule never looks at sex.
    pub fn is_hired(&self) -> bool {
        let bonus = if self.club == "football" { FOOTBALL } else { 0 };
        2 * self.education + self.experience + self.hours + bonus >= BAR
    }

    fn cells(&self) -> [String; 7] {
        [
            self.age.to_string(),
            self.education.to_string(),
            self.experience.to_string(),
            self.hours.to_string(),
            self.club.to_owned(),
            if self.is_female { "female" } else { "male" }.to_owned(),
            if self.is_hired() { "yes" } else { "no" }.to_owned(),
        ]
    }
}

/// Returns the person `item` of `seed`, and what they would have been as somebody of the other sex,
/// where sex has the influence `effect`, from 0 to 1.
pub fn hidden_person(seed: u64, item: u64, effect: f64) -> [HiddenPerson; 2] {
    let draws = Draws::new(seed, item);
    [draws.is_female, !draws.is_female].map(|is_female| draws.person(is_female, effect))
}

/// Writes `people` as CSV.
///
/// # Errors
/// When `out` fails.
pub fn write_csv(
    out: impl Write,
    people: impl IntoIterator<Item = HiddenPerson>,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    for person in people {
        csv.write_record(person.cells())?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use probity_data::schema::{Encoded, Encoder, Schema};

    use super::*;

    const PEOPLE: u64 = 20_000;

    #[test]
    fn everybody_fits_the_schema() {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let names = schema.attributes.iter().map(|it| it.name.as_str());
        assert!(names.chain([schema.label.name.as_str()]).eq(COLUMNS));
        for item in 0..1000 {
            for person in hidden_person(5, item, 1.0) {
                let cells = person.cells();
                for (attribute, cell) in schema.attributes.iter().zip(&cells) {
                    let encoded = Encoder::new(attribute).encode(cell);
                    assert!(matches!(encoded, Ok(Encoded::Code(_))), "{cell}");
                }
            }
        }
    }

    #[test]
    fn without_an_effect_nothing_depends_on_sex() {
        for item in 0..1000 {
            let [one, other] = hidden_person(7, item, 0.0);
            assert_ne!(one.is_female, other.is_female);
            let alike = HiddenPerson {
                is_female: one.is_female,
                ..other
            };
            assert_eq!(one, alike);
        }
    }

    #[test]
    fn women_lose_by_the_mechanism_and_nobody_gains() {
        let (mut unfair, mut women) = (0, 0);
        for item in 0..PEOPLE {
            let [one, other] = hidden_person(7, item, 1.0);
            let [woman, man] = if one.is_female {
                [one, other]
            } else {
                [other, one]
            };
            assert!(woman.experience <= man.experience && woman.hours <= man.hours);
            assert!(!woman.is_hired() || man.is_hired());
            assert_eq!((woman.age, woman.education), (man.age, man.education));
            women += u32::from(one.is_female);
            unfair += u32::from(!woman.is_hired() && man.is_hired());
        }
        assert!((9_500..10_500).contains(&women), "{women}");
        assert!((4_000..12_000).contains(&unfair), "{unfair}");
    }

    #[test]
    fn more_people_change_none_and_the_file_has_a_line_for_each() {
        let people = |count: u64| {
            let mut text = Vec::new();
            let people = (0..count).map(|item| hidden_person(1, item, 1.0)[0]);
            write_csv(&mut text, people).unwrap();
            String::from_utf8(text).unwrap()
        };
        let (few, more) = (people(50), people(90));
        assert!(more.starts_with(&few));
        assert_eq!(few.lines().count(), 51);
    }
}
