//! The words of the generated comments: groups of near-synonyms and of things of one kind.

/// The groups of words: the name of each group and its words. A template draws from a group by its
/// name.
pub(super) const GROUPS: [(&str, &str); 51] = [
    (
        "person",
        "neighbour teacher driver colleague cousin student editor writer visitor manager farmer nurse doctor cook player singer painter baker clerk friend",
    ),
    (
        "people",
        "neighbours teachers drivers colleagues cousins students editors writers visitors managers farmers nurses doctors cooks players singers painters bakers clerks friends",
    ),
    (
        "kind",
        "kind friendly helpful gentle generous polite thoughtful patient warm honest caring considerate",
    ),
    (
        "good",
        "good great excellent wonderful splendid superb lovely fine brilliant fantastic marvellous",
    ),
    (
        "silly",
        "silly foolish lazy clumsy annoying boring careless stubborn grumpy useless childish hopeless",
    ),
    (
        "bad",
        "bad poor terrible awful dreadful dull weak shoddy horrible rotten lousy",
    ),
    (
        "fool",
        "fool clown twit bore pest nuisance nitwit muppet dimwit oaf",
    ),
    (
        "rubbish",
        "rubbish nonsense drivel twaddle garbage hogwash tripe claptrap",
    ),
    (
        "thing",
        "article page essay report story book paper chapter draft section paragraph summary",
    ),
    (
        "place",
        "town city village street market park garden library museum station harbour square bridge",
    ),
    (
        "food",
        "soup bread cheese rice stew cake salad pie pudding pasta porridge fruit",
    ),
    (
        "edited",
        "wrote edited read finished reviewed checked corrected changed rewrote shortened",
    ),
    ("visited", "visited saw left reached toured explored"),
    ("like", "like love enjoy admire adore appreciate"),
    ("hate", "hate dislike detest loathe resent despise"),
    ("time", "yesterday today recently earlier"),
    (
        "day",
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    ),
    ("season", "spring summer autumn winter"),
    (
        "number",
        "two three four five six seven eight nine ten twelve twenty",
    ),
    (
        "weather",
        "sunny rainy windy cloudy foggy snowy stormy chilly mild",
    ),
    (
        "very",
        "very really quite rather truly extremely fairly terribly",
    ),
    ("music", "song tune melody album ballad"),
    (
        "game",
        "football tennis chess cricket hockey rugby baseball badminton",
    ),
    (
        "animal",
        "dog cat horse rabbit goat hen cow sheep donkey pony",
    ),
    ("vehicle", "bus train car bicycle tram ferry lorry taxi van"),
    ("work", "job work project effort"),
    ("thanks", "thanks cheers"),
    ("clothes", "coat hat scarf shirt jacket jumper"),
    (
        "colour",
        "red blue green yellow purple beige grey orange pink",
    ),
    ("room", "kitchen cellar attic hall office bedroom bathroom"),
    ("tool", "hammer ladder rope spade bucket saw drill"),
    (
        "hobby",
        "painting singing cooking reading dancing fishing gardening hiking knitting",
    ),
    ("quiet", "stop quit cease"),
    (
        "whining",
        "whining moaning complaining grumbling ranting babbling",
    ),
    ("mistake", "mistake error typo slip blunder fault"),
    (
        "comment",
        "question comment remark note reply answer suggestion",
    ),
    ("fixed", "fixed mended repaired cleaned painted moved"),
    ("opened", "begins starts ends finishes"),
    ("hour", "morning afternoon evening"),
    ("group", "group family community club society association"),
    (
        "subjects",
        "history geography music art poetry cooking sport science",
    ),
    (
        "event",
        "meeting party dinner festival wedding fair lecture concert",
    ),
    ("moved", "moved travelled returned"),
    ("met", "met saw joined helped called invited"),
    ("said", "said thought wrote explained mentioned believed"),
    ("old", "old new small big large tiny huge"),
    ("ruin", "ruin spoil wreck"),
    ("really", "really truly honestly certainly"),
    ("improved", "improved corrected updated rewrote shortened"),
    ("document", "article essay report book paper chapter draft"),
    ("drink", "tea coffee water juice milk lemonade"),
];

/// Returns the words of a group; none if there is no such group.
pub(crate) fn group(name: &str) -> Option<&'static str> {
    GROUPS
        .iter()
        .find(|(group, _)| *group == name)
        .map(|(_, words)| *words)
}
