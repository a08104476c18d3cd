//! Verbs whose past is irregular.

use std::sync::LazyLock;

use hashbrown::HashMap;

/// The irregular verbs: base form, past, past participle. Where a verb has several forms, the most
/// frequent one is listed.
const IRREGULAR: &str = "\
arise arose arisen|awake awoke awoken|bear bore borne|beat beat beaten|become became become|\
beget begot begotten|begin began begun|behold beheld beheld|bend bent bent|beset beset beset|\
bet bet bet|bid bid bid|bind bound bound|bite bit bitten|bleed bled bled|blow blew blown|\
break broke broken|breed bred bred|bring brought brought|broadcast broadcast broadcast|\
build built built|burst burst burst|buy bought bought|cast cast cast|catch caught caught|\
choose chose chosen|cling clung clung|come came come|cost cost cost|creep crept crept|\
cut cut cut|deal dealt dealt|dig dug dug|do did done|draw drew drawn|drink drank drunk|\
drive drove driven|dwell dwelt dwelt|eat ate eaten|fall fell fallen|feed fed fed|feel felt felt|\
fight fought fought|find found found|flee fled fled|fling flung flung|fly flew flown|\
forbid forbade forbidden|forecast forecast forecast|foresee foresaw foreseen|\
forget forgot forgotten|forgive forgave forgiven|forsake forsook forsaken|freeze froze frozen|\
get got gotten|give gave given|go went gone|grind ground ground|grow grew grown|\
hang hung hung|have had had|hear heard heard|hide hid hidden|hit hit hit|hold held held|\
hurt hurt hurt|keep kept kept|kneel knelt knelt|know knew known|lay laid laid|lead led led|\
leave left left|lend lent lent|let let let|lie lay lain|light lit lit|lose lost lost|\
make made made|mean meant meant|meet met met|mislead misled misled|mistake mistook mistaken|\
misunderstand misunderstood misunderstood|mow mowed mown|offset offset offset|\
overcome overcame overcome|overhear overheard overheard|override overrode overridden|\
overrun overran overrun|oversee oversaw overseen|overtake overtook overtaken|\
overthrow overthrew overthrown|partake partook partaken|pay paid paid|prove proved proven|\
put put put|quit quit quit|read read read|rebuild rebuilt rebuilt|redo redid redone|\
remake remade remade|repay repaid repaid|retell retold retold|rethink rethought rethought|\
rewrite rewrote rewritten|rid rid rid|ride rode ridden|ring rang rung|rise rose risen|\
run ran run|saw sawed sawn|say said said|see saw seen|seek sought sought|sell sold sold|\
send sent sent|set set set|sew sewed sewn|shake shook shaken|shed shed shed|shine shone shone|\
shit shat shat|shoot shot shot|show showed shown|shrink shrank shrunk|shut shut shut|\
sing sang sung|sink sank sunk|sit sat sat|slay slew slain|sleep slept slept|slide slid slid|\
sling slung slung|slit slit slit|sow sowed sown|speak spoke spoken|speed sped sped|\
spend spent spent|spin spun spun|spit spat spat|split split split|spread spread spread|\
spring sprang sprung|stand stood stood|steal stole stolen|stick stuck stuck|sting stung stung|\
stink stank stunk|stride strode stridden|strike struck struck|string strung strung|\
strive strove striven|swear swore sworn|sweep swept swept|swell swelled swollen|\
swim swam swum|swing swung swung|take took taken|teach taught taught|tear tore torn|\
tell told told|think thought thought|throw threw thrown|thrust thrust thrust|\
tread trod trodden|undergo underwent undergone|understand understood understood|\
undertake undertook undertaken|undo undid undone|unwind unwound unwound|uphold upheld upheld|\
upset upset upset|wake woke woken|wear wore worn|weave wove woven|wed wed wed|weep wept wept|\
win won won|wind wound wound|withdraw withdrew withdrawn|withhold withheld withheld|\
withstand withstood withstood|wring wrung wrung|write wrote written";

/// The past forms of irregular verbs, by base form.
static PAST: LazyLock<HashMap<&str, [&str; 2]>> = LazyLock::new(|| {
    verbs()
        .map(|[base, past, participle]| (base, [past, participle]))
        .collect()
});

/// The base forms of irregular verbs and whether it is the participle, by form.
static BASE: LazyLock<HashMap<&str, Vec<(&str, bool)>>> = LazyLock::new(|| {
    let mut bases: HashMap<&str, Vec<(&str, bool)>> = HashMap::new();
    for [base, past, participle] in verbs() {
        bases.entry(past).or_default().push((base, false));
        bases.entry(participle).or_default().push((base, true));
    }
    bases
});

fn verbs() -> impl Iterator<Item = [&'static str; 3]> {
    IRREGULAR.split('|').filter_map(|verb| {
        let mut forms = verb.split(' ');
        Some([forms.next()?, forms.next()?, forms.next()?])
    })
}

/// Returns the past and the past participle of an irregular verb.
pub(super) fn past(base: &str) -> Option<[&'static str; 2]> {
    PAST.get(base).copied()
}

/// Returns the verbs that `form` is an irregular past (`false`) or past participle (`true`) of.
pub(super) fn bases(form: &str) -> &'static [(&'static str, bool)] {
    BASE.get(form).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_has_three_forms() {
        assert!(
            IRREGULAR
                .split('|')
                .all(|verb| verb.split(' ').count() == 3)
        );
        assert_eq!(verbs().count(), PAST.len());
        assert_eq!(past("write"), Some(["wrote", "written"]));
        assert_eq!(past("walk"), None);
    }

    #[test]
    fn forms_lead_to_their_verbs() {
        assert_eq!(bases("saw"), [("see", false)]);
        assert_eq!(bases("lay"), [("lie", false)]);
        assert_eq!(bases("cut"), [("cut", false), ("cut", true)]);
        assert_eq!(bases("run"), [("run", true)]);
        assert!(bases("walked").is_empty());
    }
}
