use super::*;

/// English texts, one a line.
const ENGLISH: &str = "\
This is the best movie I have ever seen.
u r so dumb lol
gr8 stuff m8
I don't think so, mate.
What an awful, awful film!
Please stop vandalizing Wikipedia.
You are an idiot and nobody likes you.
The cinematography was breathtaking.
omg wtf is wrong with u
SHUT UP YOU STUPID MORON
Thanks for your help with the article.
black people live in this neighbourhood
He was born in Germany in 1950.
Why did you delete my page?
this movie sucks big time dude
An utterly charming and hilarious film.
Not a bad way to spend an evening.
im gonna tell u the truth bro
No offense but that was a terrible idea
Die Hard is a great movie.
The man was in the war so he was a hero.
lol
Go to hell
Bonjour
A gorgeous, witty, seductive movie.
Go fuck yourself you piece of shit
Yeah I know right haha
plz dont block me again
Leonardo DiCaprio and Kate Winslet are great.
great great great great great
It's a lovely film with lovely performances.
she said that he can come tomorrow
Women drivers are dangerous
immigrants take our jobs
worst acting ever
cant believe they killed him off
See the talk page for more information.
He speaks la lingua franca of the de facto government.
Los Angeles is a city in California.
Best pizza in town, would eat again
really funny and well acted comedy
two thumbs up from me and my kids
the el nino and la nina effects on the weather
my dog ate my homework yesterday
I was in Paris and in Rome last summer
the actors do the best they can
Brilliant!
hahaha thats so funny
idk tbh it was ok i guess
Total waste of time and money.";

const FOREIGN_TEXTS: &str = "\
Das ist der beste Film, den ich je gesehen habe.
Ich glaube nicht, dass du das verstehst.
Wo ist denn der Bahnhof bitte?
Der Mann war in der Stadt und kaufte ein Auto.
Du bist so dumm, geh nach Hause
Meine Frau kommt heute nicht mit.
C'est le meilleur film que j'ai jamais vu.
Je ne comprends pas pourquoi tu fais ça.
Il est allé à la maison avec sa soeur.
Les femmes sont dans la rue.
Vous êtes un idiot, monsieur.
Nous avons mangé du pain et du fromage.
Esta es la mejor película que he visto.
No me gusta la comida de este restaurante.
Los niños están en la escuela.
Eres un idiota y no sabes nada.
Mi hermana vive en Madrid con su esposo.
El perro es muy grande y bonito.
Questo è il miglior film che abbia mai visto.
Non capisco perché lo fai sempre.
La ragazza è andata al mercato con sua madre.
Mi piace molto questa canzone
Sei un idiota e non sai niente
Este é o melhor filme que eu já vi.
Não gosto de você, você é muito chato.
Os meninos estão na escola com a professora.
Eu não entendo por que ela foi embora.
Dit is de beste film die ik ooit heb gezien.
Ik weet niet waarom je dat doet.
De kinderen zijn op school met hun juf.
Jij bent een grote idioot, ga weg
Bu şimdiye kadar gördüğüm en iyi film.
Ben seni çok seviyorum ama sen beni sevmiyorsun.
Bugün hava çok güzel değil mi?
To jest najlepszy film jaki widziałem.
Nie wiem dlaczego to robisz.
Moja siostra mieszka w Warszawie i ma psa.
Jag vet inte varför du gör det.
Jeg er ikke sikker på at det er en god film.
Saya tidak tahu apa yang dia lakukan.
Это лучший фильм, который я видел.
Привет
你好世界
これは素晴らしい映画です
هذا أفضل فيلم رأيته
안녕하세요
Αυτή είναι η καλύτερη ταινία
Tämä on paras elokuva jonka olen nähnyt.
Ez a legjobb film, amit valaha láttam.
Toto je nejlepší film, jaký jsem kdy viděl.";

fn words(text: &str) -> Vec<String> {
    let tokenizer = crate::tokenizer::Tokenizer::without_vocabulary().unwrap();
    let tokens = tokenizer.tokens(text).unwrap();
    tokens
        .into_iter()
        .map(|token| text[token.bytes].to_owned())
        .collect()
}

fn judged(text: &str) -> bool {
    let words = words(text);
    is_english(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn english_texts_are_english() {
    let wrong: Vec<&str> = ENGLISH.lines().filter(|text| !judged(text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let lowered = ENGLISH.to_lowercase();
    let wrong: Vec<&str> = lowered.lines().filter(|text| !judged(text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn texts_in_other_languages_are_not() {
    let wrong: Vec<&str> = FOREIGN_TEXTS.lines().filter(|text| judged(text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let lowered = FOREIGN_TEXTS.to_lowercase();
    let wrong: Vec<&str> = lowered.lines().filter(|text| judged(text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn texts_without_words_are_english() {
    assert!(is_english(&[]) && judged("!!! :-) 1,000") && judged("\u{1f642} \u{1f642}"));
    assert!(judged("Bonjour tout le") && !judged("Bonjour tout le monde"));
}

#[test]
fn names_of_users_do_not_judge_what_is_shouted() {
    for text in [
        "@bob MUSLIMS ARE VIOLENT",
        "@amy GAY MEN ARE GREAT PEOPLE",
        "RT @bob: WOMEN RULE",
        "MY MOTHER COOKS (k12)",
    ] {
        assert!(judged(text), "{text}");
    }
    assert!(!judged("@bob DAS IST DOCH NICHT WAHR"));
}
