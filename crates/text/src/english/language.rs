//! Detection of whether a text is English.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

use super::figures::Figures;
use super::forms::lower;
use super::function_words::is_function_word;
use super::inflection::analyses;
use super::tag::Tag;

/// The least number of words by which a text is judged: shorter texts are English unless their
/// script says otherwise.
const FEWEST_WORDS: usize = 4;

/// The largest share of letters of other scripts that an English text may have.
const MOST_FOREIGN_LETTERS: f32 = 0.3;

/// The least share of known words that an English text has.
const LEAST_KNOWN: f32 = 0.4;

/// The most frequent words of other languages.
const FOREIGN: &[&str] = &[
    // German
    "der die das und ist nicht ich du er sie wir ihr ein eine einen einem einer den dem des mit \
     für auf von zu im sich auch es an als war wie aber oder wenn noch nur bei nach aus über kann \
     haben hat bin bist sind sein seine mein meine dein deine kein keine mich dich mir dir ja nein \
     was wer wo warum hier sehr schon so weil dass daß habe wird werden zum zur vom ganz immer \
     doch mal viel viele",
    // French
    "le la les un une des du de et est pas je tu il elle nous vous ils elles ne que qui dans pour \
     sur avec ce cette ces son sa ses mon ma mes ton ta tes notre votre leur mais ou où donc car \
     si très plus moins bien être avoir suis es sommes êtes sont ai as avons avez ont fait c'est \
     j'ai n'est d'un d'une l'on qu'il quand comme tout tous aussi par au aux en se y a été même \
     trop rien",
    // Spanish
    "el la los las un una unos unas de del y es no yo tú tu él ella nosotros ellos que quien en \
     para por con su sus mi mis este esta esto ese esa pero o si sí muy más menos bien ser estar \
     soy eres somos son está están estoy hay he ha han lo le les se te me nos al como cuando donde \
     todo todos también porque qué nada siempre nunca ya sin sobre fue era gracias hola usted",
    // Italian
    "il lo la i gli le un uno una di del della dei delle e è non io tu lui lei noi voi loro che \
     chi in per con su suo sua mio mia questo questa quello ma o se sì molto più meno bene essere \
     avere sono sei siamo siete ho hai ha abbiamo hanno si ti mi ci al alla nel nella come quando \
     dove tutto tutti anche perché cosa niente sempre mai già da dal dalla era grazie ciao",
    // Portuguese
    "o a os as um uma de do da dos das e é não eu tu ele ela nós eles elas você vocês que quem em \
     no na nos nas para por com seu sua meu minha este esta isso mas ou se sim muito mais menos \
     bem ser estar sou és somos são está estão estou há tem têm tenho foi era ao à como quando \
     onde tudo todos também porque nada sempre nunca já sem sobre obrigado gosto ainda pelo pela \
     num",
    // Dutch
    "de het een en is niet ik jij je hij zij ze wij we jullie van in op met voor aan te dat die \
     dit deze er ook als maar of om naar uit bij nog wel zijn hebben ben bent heb heeft had was \
     waren mijn jouw zo kan wil zal moet geen wat wie waar waarom hoe heel veel meer altijd nooit \
     omdat door over worden wordt goed mij hem haar ons hun dan toch",
    // Turkish
    "ve bir bu da de için çok ne ben sen o biz siz onlar değil var yok mi mı mu mü ile gibi daha \
     ama ki her şey en kadar sonra önce olarak olan olduğu nasıl neden niye evet hayır benim senin \
     onun bizim bana sana ona beni seni şu hiç bence iyi kötü güzel sadece artık bile hem ya diye \
     oldu",
    // Polish
    "i w na z do nie się jest to że jak co o ja ty on ona my wy oni dla po od za tak ale czy już \
     tylko jego jej ich mój moja twój bardzo może był była było są jestem jesteś ten ta te tego \
     tej tym być ma mam masz gdzie kiedy dlaczego wszystko nic zawsze nigdy przez przy bez pod nad \
     też bo lub",
    // Swedish, Danish and Norwegian
    "och og är er inte ikke jag jeg du han hon hun vi de den det en ett et som på av till til för \
     for med att att har var om men eller så kan ska vil min din sin mycket meget alla alle bara \
     bare också også när når vad hva hvad hur hvor varför hvorfor från fra denna dette mig dig",
    // Indonesian and Malay
    "yang dan di ke dari ini itu tidak saya kamu aku dia kami kita mereka untuk dengan ada akan \
     bisa sudah belum juga atau tapi karena apa siapa orang sangat lebih banyak pada adalah \
     seperti bukan jangan lagi saja oleh telah dalam anda",
];

/// The languages, as bits, that a word is frequent in.
static LANGUAGES: LazyLock<HashMap<&str, u16>> = LazyLock::new(|| {
    let mut languages = HashMap::new();
    for (language, words) in FOREIGN.iter().enumerate() {
        let words: HashSet<&str> = words.split_ascii_whitespace().collect();
        for word in words {
            *languages.entry(word).or_default() |= 1 << language;
        }
    }
    languages
});

/// Returns whether the words of a text, in their original spelling, are English.
///
/// 1. A text with no letters is; one with more than three tenths of its letters from other
///    scripts than Latin is not.
/// 2. Any other text of fewer than four words with letters is.
/// 3. Words that are frequent in another language and no English words are held against function
///    words that are not frequent there: the language that has more of them wins.
/// 4. Where there is none of either, at least two fifths of the words must be known: of those in
///    small letters, as the others may be names, or of those in capitals where most are. Misspelled
///    and shortened words of the Internet (`u`, `gr8`, `lol`) are known.
pub fn is_english(words: &[&str]) -> bool {
    let letters = || {
        words
            .iter()
            .flat_map(|word| word.chars())
            .filter(|c| c.is_alphabetic())
    };
    let foreign = letters().filter(|&c| !is_latin(c)).count();
    if foreign as f32 > MOST_FOREIGN_LETTERS * letters().count() as f32 {
        return false;
    }
    let written = words
        .iter()
        .filter(|word| word.contains(char::is_alphabetic));
    let written: Vec<&str> = written.copied().collect();
    if written.len() < FEWEST_WORDS {
        return true;
    }
    let spoken: Vec<String> = written
        .iter()
        .map(|word| lower(word).into_owned())
        .collect();
    let known: Vec<bool> = spoken.iter().map(|word| is_known(word)).collect();
    let mut clear = false;
    for language in 0..FOREIGN.len() {
        let (mut theirs, mut ours) = (0, 0);
        for (word, &known) in spoken.iter().zip(&known) {
            let of = LANGUAGES.get(word.as_str());
            let frequent = of.is_some_and(|of| of >> language & 1 == 1);
            let single = word.chars().count() == 1 && !matches!(word.as_str(), "a" | "i");
            // Letters with marks speak against English, whatever the language is.
            theirs += usize::from(frequent && (!known || single) || !known && !word.is_ascii());
            ours += usize::from(known && !frequent && is_function_word(word));
        }
        if theirs > ours {
            return false;
        }
        clear |= ours > theirs && 3 * ours >= spoken.len();
    }
    if clear {
        return true;
    }
    let is_loud = |word: &str| {
        let mut letters = word.chars().filter(|c| c.is_alphabetic());
        word.chars().count() > 1 && letters.all(char::is_uppercase)
    };
    let loud: Vec<bool> = written.iter().map(|word| is_loud(word)).collect();
    let is_shouted = 2 * loud.iter().filter(|&&loud| loud).count() >= written.len();
    let judged = (0..written.len()).filter(|&at| match is_shouted {
        true => loud[at],
        false => !written[at].starts_with(char::is_uppercase),
    });
    let judged: Vec<bool> = judged.map(|at| known[at]).collect();
    let judged = if judged.is_empty() { known } else { judged };
    let of_known = judged.iter().filter(|&&known| known).count();
    of_known as f32 >= LEAST_KNOWN * judged.len() as f32
}

fn is_latin(c: char) -> bool {
    matches!(c, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{ff21}'..='\u{ff5a}')
}

/// Returns whether a word is an English word: a function word, or one that texts or the dictionary
/// have as something other than a name or a foreign word.
fn is_known(word: &str) -> bool {
    if is_function_word(word) {
        return true;
    }
    let ours = |tag: Tag| !tag.is_name() && tag != Tag::Other;
    match Figures::shipped().uses(word) {
        Some(uses) if !uses.are_few() => uses.share(ours) >= 0.5,
        _ => {
            let found = analyses(word);
            !found.is_empty() || word.starts_with(|c: char| c.is_numeric()) && word.len() < 5
        }
    }
}

#[cfg(test)]
#[path = "language_tests.rs"]
mod tests;
