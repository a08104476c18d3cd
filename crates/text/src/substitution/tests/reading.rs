//! A listing, to be read by a person, of what comments of Wikipedia become. Run by hand, with
//! `PROBITY_READ=seed,pairs`: `cargo test --lib substitution::tests::reading -- --ignored
//! --nocapture`.

use std::env;
use std::io::Read;
use std::ops::Range;

use probity_data::compressed;
use probity_run::stream::{Purpose, stream};
use rand::RngExt;

use super::*;

/// Returns the first column of `comment_text` in CSV, quotes undone.
fn texts(csv: &str) -> Vec<String> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let (mut row, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = csv.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted => {}
            _ => cell.push(letter),
        }
    }
    let column = rows[0]
        .iter()
        .position(|name| name == "comment_text")
        .unwrap();
    let rows = rows.into_iter().skip(1).filter(|row| row.len() > column);
    rows.map(|mut row| row.swap_remove(column)).collect()
}

fn around(text: &str, bytes: Range<usize>) -> String {
    let mut start = bytes.start.saturating_sub(70);
    let mut end = (bytes.end + 70).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    text[start..end].replace('\n', " | ")
}

#[test]
#[ignore = "prints pairs for a reader"]
fn pairs_of_comments_are_printed() {
    let Some(folder) = probity_testing::data(&[]) else {
        return;
    };
    let file = folder.join("toxic_wikipedia/jigsaw_toxic_11170.csv.xz");
    let mut csv = String::new();
    let file = std::fs::File::open(file).unwrap();
    compressed::decompress(std::io::BufReader::new(file))
        .unwrap()
        .read_to_string(&mut csv)
        .unwrap();
    let texts = texts(&csv);
    let asked = env::var("PROBITY_READ").unwrap_or_else(|_| "1,200".to_owned());
    let (seed, pairs) = asked.split_once(',').unwrap();
    let (seed, pairs): (u64, usize) = (seed.parse().unwrap(), pairs.parse().unwrap());
    let analyses: Vec<Analysis> = texts
        .iter()
        .map(|text| ALL.analyse(text).unwrap())
        .collect();
    println!("{} texts", texts.len());
    let english = analyses.iter().filter(|a| a.is_english).count();
    println!("{english} of them English");
    for (number, name) in ALL.attributes().iter().enumerate() {
        let of = |a: &&Analysis| a.sites.iter().any(|site| site.attribute == number);
        println!("{name}: {} texts", analyses.iter().filter(of).count());
    }
    let sites: Vec<(usize, &Site)> = (0..texts.len())
        .flat_map(|at| analyses[at].sites.iter().map(move |site| (at, site)))
        .collect();
    println!("{} sites", sites.len());
    let mut draws = stream(seed, Purpose::Synthetic, 0, 0);
    let mut reversible = 0;
    for number in 0..pairs {
        let (at, site) = sites[draws.random_range(0..sites.len())];
        let exchange = &site.exchanges[draws.random_range(0..site.exchanges.len())];
        let place = site.occurrences[draws.random_range(0..site.occurrences.len())].clone();
        let shift: isize = exchange
            .edits
            .iter()
            .filter(|edit| edit.bytes.start < place.start)
            .map(|edit| edit.by.len() as isize - edit.bytes.len() as isize)
            .sum();
        let other = apply(&texts[at], &exchange.edits);
        let start = place.start.saturating_add_signed(shift);
        let undone = exchanged(&ALL, site.attribute, exchange.value, site.value, &other);
        let again = |text: &String| {
            let again = exchanged(&ALL, site.attribute, site.value, exchange.value, text);
            *text == texts[at] || again.contains(&other)
        };
        reversible += usize::from(undone.iter().any(again));
        println!(
            "{number} [{} {} x{} #{at}] {}\n   => {}",
            ALL.attributes()[site.attribute],
            exchange.term,
            site.occurrences.len(),
            around(&texts[at], place),
            around(
                &other,
                start..start + exchange.term.len().min(other.len() - start)
            ),
        );
    }
    println!("{reversible} of {pairs} undone");
}
