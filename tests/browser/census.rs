//! A small made-up census whose decision depends on sex, for the tests of the pages.

/// The census as CSV: `rows` people with age, education, hours of work, sex, region and income.
///
/// Income is high for those who work and learned much, and for some more of them who are men. The
/// same call gives the same people.
pub fn census(rows: u64) -> String {
    let mut text = String::from("age,education,hours,sex,region,income\n");
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut draw = |below: u64| {
        // The generator of Knuth's MMIX; its high bits are good enough for a census.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..rows {
        let (age, education, hours) = (18 + draw(50), draw(4), 10 + draw(50));
        let (sex, region) = (draw(2), draw(3));
        let score = hours + 12 * education + 14 * sex;
        text.push_str(&format!(
            "{age},{},{hours},{},{},{}\n",
            ["none", "school", "college", "university"][education as usize],
            ["Female", "Male"][sex as usize],
            ["North", "South", "West"][region as usize],
            if score > 60 { "high" } else { "low" }
        ));
    }
    text
}
