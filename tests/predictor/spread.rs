//! Attributes that a table spreads over several columns, which the predictor knows.

use crate::fake;
use crate::probity_command::Workspace;

/// 300 people by the place of their race in [`fake::AGES`], and their ages.
fn people() -> Vec<(usize, i64)> {
    let people = 0..300;
    people
        .map(|row| (row % 3, 20 + row as i64 * 7 % 60))
        .collect()
}

/// A table of dummies is audited as the one attribute that it holds: the share of its rows is that of
/// people who can be.
#[test]
fn columns_of_one_attribute_change_together() {
    let workspace = Workspace::new();
    let mut text = "race_White,age,race_Black,sex,income\n".to_owned();
    for (row, (race, age)) in people().into_iter().enumerate() {
        let [white, black] = [0, 1].map(|of| u8::from(race == of));
        let (sex, income) = (
            ["female", "male"][row / 3 % 2],
            ["low", "high"][row / 6 % 2],
        );
        text += &format!("{white},{age},{black},{sex},{income}\n");
    }
    workspace.write("people.csv", text);
    workspace
        .line("schema infer people.csv --label-column income --protected race --out drafted.toml")
        .exits(0)
        .says(&[
            "taken together as one attribute",
            "in 100 rows none of them holds",
        ]);
    let drafted = workspace.read("drafted.toml");
    workspace.write("people.toml", drafted.replace("(none of these)", "Other"));
    let source = format!("command:{}", fake::command("races"));
    let line = "audit --schema people.toml --data people.csv --protected race --seeds 50 --local 5 \
                --estimate 200 --samples csv --strategy random-walk --out run";
    workspace
        .run(line.split_whitespace().chain(["--predictor", &source]))
        .exits(0);
    let decides = |race: usize, age: i64| age >= fake::AGES[race].1;
    let flips = |(race, age): &(usize, i64)| {
        let own = decides(*race, *age);
        (0..3).any(|other| decides(other, *age) != own)
    };
    let flipped = people().iter().filter(|person| flips(person)).count();
    assert!(flipped > 50 && flipped < 250, "{flipped}");
    let share = &workspace.json("run/summary.json")["population"]["shares"][0];
    assert_eq!(share["discriminatory"], flipped, "{share}");
    let samples = workspace.read("run/samples.csv");
    let header = samples.lines().next().unwrap();
    assert!(
        header.contains("x_race,") && !header.contains("race_White"),
        "{header}"
    );
    assert!(samples.contains(",Other,") && samples.contains(",Black,"));
    workspace.line("verify run").exits(0).says(&[" 0 rejected"]);
    // A network of our own learns the attribute.
    workspace
        .line("train --data people.csv --schema people.toml --hidden 2 --epochs 1 --out model")
        .exits(0);
    workspace
        .line("predict --model model --data people.csv --out predicted.csv")
        .exits(0);
}
