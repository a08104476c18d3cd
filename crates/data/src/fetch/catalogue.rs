//! The data sets that Probity knows by name.
//!
//! Every hash and size is of the uncompressed file as its publisher gives it, so that a copy from
//! anywhere else can be told apart from it.

use super::error::FetchError;

/// A published data set: its name here, where it comes from, and its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSet {
    /// The name by which it is asked for, also its folder in the cache (`census`).
    pub name: String,
    /// The publisher's title.
    pub title: String,
    /// The licence under which the publisher gives it, or that none is stated.
    pub licence: String,
    /// The citation of the set, in one line.
    pub citation: String,
    /// The page where a person finds it, to download it by hand.
    pub page: String,
    /// The files of the set.
    pub files: Vec<DataFile>,
}

/// A file of a [`DataSet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// The name of the file in the cache (`adult.data`).
    pub name: String,
    /// The path where the file may lie below a folder of local copies (`adult/adult.data`), besides
    /// under its name.
    pub local_path: String,
    /// The SHA-256 of the uncompressed content as published, in hexadecimal.
    pub sha256: String,
    /// The size of that content in bytes.
    pub size: u64,
    /// The places that serve the file, the first choice first.
    pub sources: Vec<Source>,
}

/// A place that serves a [`DataFile`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The address.
    pub url: String,
    /// The path to the file inside a zip archive; empty where the address gives the file itself.
    /// Where the address gives a zip archive, the path has one member name for each archive to be
    /// opened, the outermost first (`["bank.zip", "bank-full.csv"]`).
    pub members: Vec<String>,
}

impl Source {
    /// Returns the last part of the address: the name that a browser would save it under.
    pub(super) fn file_name(&self) -> &str {
        let path = self.url.split(['?', '#']).next().unwrap_or(&self.url);
        path.rsplit('/').next().unwrap_or(path)
    }
}

/// The address of the code and data of Zhang et al., "White-box Fairness Testing through
/// Adversarial Sampling".
const ADF: &str = "https://raw.githubusercontent.com/pxzhang94/ADF/e175404173258364f9fbbfe392c461d525046801/datasets";

const ADF_CITATION: &str = "P. Zhang, J. Wang, J. Sun, G. Dong, X. Wang, X. Wang, J. S. Dong, T. Dai: White-box Fairness Testing through Adversarial Sampling. ICSE 2020. doi 10.1145/3377811.3380331";

const ADF_PAGE: &str =
    "https://github.com/pxzhang94/ADF/tree/e175404173258364f9fbbfe392c461d525046801/datasets";

/// The licence under which UCI gives all its sets.
const UCI_LICENCE: &str = "CC BY 4.0";

/// Returns every known data set, in the order in which they are listed to a user.
pub fn catalogue() -> Vec<DataSet> {
    vec![
        census(),
        german_credit(),
        bank_marketing(),
        compas(),
        adf(
            "adf-census",
            "Census Income, integer-coded",
            "census.csv",
            "census",
            975_150,
            "1b0af967735d9b33e4ab9aea1c174eb5f8911df4334d3f9bd89418640f5b73b9",
        ),
        adf(
            "adf-credit",
            "German Credit, integer-coded, a balanced sample",
            "credit_sample.csv",
            "credit_sample",
            26_338,
            "93c2dd4d65375235b8cf7fae592d84eef2bf29a730b15b50c5581b420b301ab2",
        ),
        adf(
            "adf-bank",
            "Bank Marketing, integer-coded",
            "bank.csv",
            "bank",
            1_650_155,
            "31964c13cd7de50fe74af1ec7fb82920ad40c0748d18ae8fdb22f59cee0753b5",
        ),
    ]
}

/// Returns the known data set of that name.
///
/// # Errors
///
/// [`FetchError::UnknownDataSet`], which lists the known names.
pub fn data_set(name: &str) -> Result<DataSet, FetchError> {
    let mut sets = catalogue();
    match sets.iter().position(|set| set.name == name) {
        Some(index) => Ok(sets.swap_remove(index)),
        None => Err(FetchError::UnknownDataSet {
            name: name.to_owned(),
            known: sets
                .iter()
                .map(|set| set.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

fn census() -> DataSet {
    let file = |name: &str, sha256: &str, size| DataFile {
        name: name.into(),
        local_path: format!("adult/{name}"),
        sha256: sha256.into(),
        size,
        sources: vec![
            plain(format!(
                "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/{name}"
            )),
            zipped(
                "https://archive.ics.uci.edu/static/public/2/adult.zip",
                &[name],
            ),
        ],
    };
    DataSet {
        name: "census".into(),
        title: "Adult (Census Income)".into(),
        licence: UCI_LICENCE.into(),
        citation: "B. Becker, R. Kohavi: Adult. UCI Machine Learning Repository, 1996. doi 10.24432/C5XW20".into(),
        page: "https://archive.ics.uci.edu/dataset/2/adult".into(),
        files: vec![
            file(
                "adult.data",
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                3_974_305,
            ),
            file(
                "adult.test",
                "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
                2_003_153,
            ),
        ],
    }
}

fn german_credit() -> DataSet {
    DataSet {
        name: "german-credit".into(),
        title: "Statlog (German Credit Data)".into(),
        licence: UCI_LICENCE.into(),
        citation: "H. Hofmann: Statlog (German Credit Data). UCI Machine Learning Repository, 1994. doi 10.24432/C5NC77".into(),
        page: "https://archive.ics.uci.edu/dataset/144/statlog+german+credit+data".into(),
        files: vec![DataFile {
            name: "german.data".into(),
            local_path: "german_credit/german.data".into(),
            sha256: "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871".into(),
            size: 79_793,
            sources: vec![
                plain("https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data".into()),
                zipped(
                    "https://archive.ics.uci.edu/static/public/144/statlog+german+credit+data.zip",
                    &["german.data"],
                ),
            ],
        }],
    }
}

fn bank_marketing() -> DataSet {
    DataSet {
        name: "bank-marketing".into(),
        title: "Bank Marketing".into(),
        licence: UCI_LICENCE.into(),
        citation: "S. Moro, P. Cortez, P. Rita: A data-driven approach to predict the success of bank telemarketing. Decision Support Systems 62, 2014. doi 10.24432/C5K306".into(),
        page: "https://archive.ics.uci.edu/dataset/222/bank+marketing".into(),
        files: vec![DataFile {
            name: "bank-full.csv".into(),
            local_path: "bank_marketing/bank-full.csv".into(),
            sha256: "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d".into(),
            size: 4_610_348,
            sources: vec![
                zipped(
                    "https://archive.ics.uci.edu/static/public/222/bank+marketing.zip",
                    &["bank.zip", "bank-full.csv"],
                ),
                zipped(
                    "https://archive.ics.uci.edu/ml/machine-learning-databases/00222/bank.zip",
                    &["bank-full.csv"],
                ),
            ],
        }],
    }
}

fn compas() -> DataSet {
    DataSet {
        name: "compas".into(),
        title: "COMPAS recidivism scores, two years (with names of persons)".into(),
        licence: "none stated by the publisher".into(),
        citation: "J. Angwin, J. Larson, S. Mattu, L. Kirchner: Machine Bias. ProPublica, 2016".into(),
        page: "https://github.com/propublica/compas-analysis".into(),
        files: vec![DataFile {
            name: "compas-scores-two-years.csv".into(),
            local_path: "compas/compas-scores-two-years.csv".into(),
            sha256: "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d".into(),
            size: 2_546_489,
            sources: vec![plain("https://raw.githubusercontent.com/propublica/compas-analysis/bafff5da3f2e45eca6c2d5055faad269defd135a/compas-scores-two-years.csv".into())],
        }],
    }
}

/// Returns a set as the ADF tool codes it: integers, a header line, the label last.
fn adf(name: &str, title: &str, file: &str, remote: &str, size: u64, sha256: &str) -> DataSet {
    DataSet {
        name: name.into(),
        title: format!("{title} (ADF)"),
        licence: "BSD 2-clause; the underlying data CC BY 4.0 (UCI)".into(),
        citation: ADF_CITATION.into(),
        page: ADF_PAGE.into(),
        files: vec![DataFile {
            name: file.into(),
            local_path: format!("adf/{file}"),
            sha256: sha256.into(),
            size,
            sources: vec![plain(format!("{ADF}/{remote}"))],
        }],
    }
}

fn plain(url: String) -> Source {
    Source {
        url,
        members: Vec::new(),
    }
}

fn zipped(url: &str, members: &[&str]) -> Source {
    Source {
        url: url.into(),
        members: members.iter().map(|&member| member.into()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_complete_and_named_once() {
        let sets = catalogue();
        for (index, set) in sets.iter().enumerate() {
            assert!(
                sets[..index].iter().all(|other| other.name != set.name),
                "{}",
                set.name
            );
            assert!(set.page.starts_with("https://"), "{}", set.name);
            assert!(!set.files.is_empty(), "{}", set.name);
            for file in &set.files {
                assert_eq!(file.sha256.len(), 64, "{}", file.name);
                assert!(
                    file.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()),
                    "{}",
                    file.name
                );
                assert!(file.size > 0 && !file.sources.is_empty(), "{}", file.name);
                assert!(
                    file.sources
                        .iter()
                        .all(|source| source.url.starts_with("https://"))
                );
                assert!(!file.name.contains(['/', '\\']), "{}", file.name);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let message = data_set("censsus").unwrap_err().to_string();
        assert!(
            message.contains("`censsus`") && message.contains("census, german-credit"),
            "{message}"
        );
    }

    #[test]
    fn a_source_is_named_after_the_end_of_its_address() {
        let source = Source {
            url: "http://host/a/b+c.zip?x=1/2".into(),
            members: vec![],
        };
        assert_eq!(source.file_name(), "b+c.zip");
    }
}
