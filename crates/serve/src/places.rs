//! Places of files in the data directory.
//!
//! Every path is made of the directory, fixed words and identifiers that the service made itself
//! ([`super::identifier`]).

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::download::ReportForm;
use super::identifier::Id;
use super::store::{Contents, DataSet, FileForm, Model, ModelOrigin};

/// The folders of the data directory.
const FOLDERS: [&str; 8] = [
    "data",
    "models",
    "specifications",
    "runs",
    "reports",
    "locks",
    "manifests",
    UPLOADS,
];

/// The folders of the files that jobs read.
const READ: [&str; 3] = ["data", "models", "runs"];

/// The data directory as it is seen from a run directory.
const UP: &str = "../..";

/// The folder of files that are being received.
const UPLOADS: &str = "uploads";

/// Makes `folder` where it is missing, and lets no other user of the machine in.
///
/// # Errors
/// The errors of the operating system.
pub fn make_private(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// A folder of the data directory that holds an artefact: what a user uploaded, or a job made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Folder {
    /// The folder of a data set.
    Data(Id),
    /// The folder of an uploaded model.
    Model(Id),
    /// The run directory of a job.
    Run(Id),
}

impl Folder {
    /// The names of the folders that hold such folders.
    pub const KINDS: [&str; 3] = READ;

    /// The folder of the thing `id` in the folder called `kind`.
    pub fn of(kind: &str, id: Id) -> Option<Folder> {
        match kind {
            "data" => Some(Folder::Data(id)),
            "models" => Some(Folder::Model(id)),
            "runs" => Some(Folder::Run(id)),
            _ => None,
        }
    }

    /// The folder with this path in the data directory.
    pub fn named(name: &str) -> Option<Folder> {
        let (kind, id) = name.split_once('/')?;
        Folder::of(kind, id.parse().ok()?)
    }

    /// The identifier of the thing. No two folders have the same one.
    pub fn id(&self) -> &Id {
        match self {
            Folder::Data(id) | Folder::Model(id) | Folder::Run(id) => id,
        }
    }

    /// The path of the folder in the data directory, with a slash.
    pub fn name(&self) -> String {
        let [data, models, runs] = READ;
        let kind = match self {
            Folder::Data(_) => data,
            Folder::Model(_) => models,
            Folder::Run(_) => runs,
        };
        format!("{kind}/{}", self.id())
    }
}

/// The folders of `contents`. The model that a job made lies in its run directory.
pub fn folders_of(contents: &Contents) -> Vec<Folder> {
    let is_uploaded = |id: &&Id| !contents.jobs.contains(id);
    let data = contents.data.iter().cloned().map(Folder::Data);
    let models = contents.models.iter().filter(is_uploaded).cloned();
    let runs = contents.jobs.iter().cloned().map(Folder::Run);
    data.chain(models.map(Folder::Model)).chain(runs).collect()
}

/// Whether `name` is plain: of letters and digits of English, dots, hyphens and underscores, and
/// not hidden. So it is no path to anything else.
pub fn is_plain_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(is_plain)
}

/// The data directory, with the places of files in it.
#[derive(Debug, Clone)]
pub struct Places {
    root: PathBuf,
}

impl Places {
    /// Makes the data directory and its folders where they are missing.
    pub fn create(root: &Path) -> io::Result<Places> {
        let places = Places {
            root: std::path::absolute(root)?,
        };
        make_private(&places.root)?;
        for folder in FOLDERS {
            std::fs::create_dir_all(places.root.join(folder))?;
        }
        Ok(places)
    }

    /// Removes files that were being received, and files under identifiers that are not `kept`: a
    /// service that was killed while it received or deleted something leaves them.
    pub fn sweep(&self, kept: &HashSet<Id>) -> io::Result<()> {
        for folder in FOLDERS {
            let is_on_its_way = folder == UPLOADS;
            for entry in std::fs::read_dir(self.root.join(folder))? {
                let entry = entry?;
                let name = entry.file_name();
                // The names are `ID`, `ID.toml`, `ID.annex.html`; anything else does not belong to
                // the service.
                let id = name.to_string_lossy();
                let id = id.split('.').next().unwrap_or_default().parse::<Id>();
                if !is_on_its_way && id.map_or(true, |id| kept.contains(&id)) {
                    continue;
                }
                let path = entry.path();
                gone(match entry.file_type()?.is_dir() {
                    true => std::fs::remove_dir_all(path),
                    false => std::fs::remove_file(path),
                })?;
            }
        }
        Ok(())
    }

    /// The path of the data directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a data set.
    pub fn data(&self, id: &Id) -> PathBuf {
        self.root.join("data").join(id.as_str())
    }

    /// The file of a data set of the form `form`.
    pub fn data_file(&self, id: &Id, form: FileForm) -> PathBuf {
        self.data(id).join(format!("data.{}", form.ending()))
    }

    /// The path of the file of `data`.
    pub fn file_of(&self, data: &DataSet) -> PathBuf {
        self.data_file(&data.id, data.form)
    }

    /// The schema of a data set.
    pub fn schema(&self, id: &Id) -> PathBuf {
        self.data(id).join("schema.toml")
    }

    /// The reasons why columns of a data set are left out of its schema.
    pub fn left_out(&self, id: &Id) -> PathBuf {
        self.data(id).join("left-out.json")
    }

    /// The directory of a model: its own if it was uploaded, else that of the run that made it.
    pub fn model(&self, model: &Model) -> PathBuf {
        match model.origin {
            ModelOrigin::Uploaded => self.uploaded_model(&model.id),
            ModelOrigin::Trained | ModelOrigin::Repaired => self.run(&model.id),
        }
    }

    /// The directory of an uploaded model.
    pub fn uploaded_model(&self, id: &Id) -> PathBuf {
        self.root.join("models").join(id.as_str())
    }

    /// The specification of a job, with the paths of the files that it reads; the job's process
    /// runs it.
    pub fn specification(&self, job: &Id) -> PathBuf {
        let folder = self.root.join("specifications");
        folder.join(format!("{job}.toml"))
    }

    /// The run directory of a job.
    pub fn run(&self, job: &Id) -> PathBuf {
        self.root.join("runs").join(job.as_str())
    }

    /// The report of a job's run.
    pub fn report(&self, job: &Id, form: ReportForm) -> PathBuf {
        let name = format!("{job}.{}", form.ending());
        self.root.join("reports").join(name)
    }

    /// What the reports on a job's run call it and what it read.
    pub fn names(&self, job: &Id) -> PathBuf {
        let name = format!("{job}.names.json");
        self.root.join("reports").join(name)
    }

    /// The path of a folder.
    pub fn path(&self, folder: &Folder) -> PathBuf {
        match folder {
            Folder::Data(id) => self.data(id),
            Folder::Model(id) => self.uploaded_model(id),
            Folder::Run(id) => self.run(id),
        }
    }

    /// The folder of the copies of manifests.
    pub fn manifests(&self) -> PathBuf {
        self.root.join("manifests")
    }

    /// The copy of the manifest of the folder of `id`, where artefacts are stored elsewhere.
    pub fn manifest(&self, id: &Id) -> PathBuf {
        self.manifests().join(format!("{id}.json"))
    }

    /// The file that the process of a job keeps locked while it runs.
    pub fn lock(&self, job: &Id) -> PathBuf {
        self.root.join("locks").join(job.as_str())
    }

    /// The path of something in the data directory, relative to it, with slashes.
    pub fn name_of(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    }

    /// The path of something in the data directory as seen from a run directory.
    pub fn seen_from_run(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.root) {
            Ok(inside) => Path::new(UP).join(inside),
            Err(_) => path.to_owned(),
        }
    }

    /// The file at the relative `path` of a file that a job may read: a folder for such files, an
    /// identifier, and a plain name. None for all other paths.
    pub fn file_called(&self, path: &str) -> Option<PathBuf> {
        let parts: Vec<&str> = path.split('/').collect();
        let [folder, id, name] = parts.as_slice() else {
            return None;
        };
        let is_known = READ.contains(folder) && id.parse::<Id>().is_ok() && is_plain_name(name);
        is_known.then(|| self.root.join(folder).join(id).join(name))
    }

    /// Returns `text` with the paths of files in the data directory relative to it, so that it says
    /// nothing of the machine.
    pub fn relative(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for folder in READ {
            text = text.replace(&format!("{UP}/{folder}/"), &format!("{folder}/"));
        }
        let mut root = self.root.to_string_lossy().into_owned();
        root.push(std::path::MAIN_SEPARATOR);
        text.replace(&root, "")
    }

    /// Returns `text` without paths of the data directory: each becomes the name of its file, such
    /// as `data.csv`, or a word for what lies there.
    pub fn without_paths(&self, text: &str) -> String {
        let root = self.root.to_string_lossy();
        let mut text = text.to_owned();
        for folder in READ {
            text = text.replace(&format!("{UP}/{folder}/"), &format!("{root}/{folder}/"));
        }
        let mut parts = text.split(root.as_ref());
        let mut result = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part
                .find(|c: char| {
                    !(c.is_ascii_alphanumeric() || matches!(c, '/' | '\\' | '.' | '-' | '_'))
                })
                .unwrap_or(part.len());
            let (path, rest) = part.split_at(end);
            let path = path.trim_end_matches(['.', '/', '\\']);
            let mut words = path.rsplit(['/', '\\']);
            let last = words.next().unwrap_or_default();
            let is_ours = last.parse::<Id>().is_ok() || last.is_empty();
            result.push_str(match words.next() {
                Some("data") if is_ours => "the data set",
                Some("models") if is_ours => "the model",
                Some("runs") if is_ours => "the run",
                _ if is_ours => "the data directory",
                _ => last,
            });
            result.push_str(rest);
        }
        result
    }

    /// The number of bytes of the files of `contents`.
    pub fn size_of(&self, contents: &Contents) -> io::Result<u64> {
        let mut bytes = 0;
        for id in &contents.data {
            bytes += size(&self.data(id))?;
        }
        for id in &contents.models {
            bytes += size(&self.uploaded_model(id))?;
        }
        for id in &contents.jobs {
            bytes += size(&self.run(id))?;
            let reports = ReportForm::ALL.map(|form| self.report(id, form));
            for file in reports.into_iter().chain([self.names(id)]) {
                bytes += gone_is_empty(std::fs::metadata(file))?;
            }
        }
        Ok(bytes)
    }

    /// Removes the files of `contents`.
    pub fn remove(&self, contents: &Contents) -> io::Result<()> {
        for id in &contents.data {
            gone(std::fs::remove_dir_all(self.data(id)))?;
        }
        for id in &contents.models {
            gone(std::fs::remove_dir_all(self.uploaded_model(id)))?;
        }
        for id in &contents.jobs {
            gone(std::fs::remove_dir_all(self.run(id)))?;
            gone(std::fs::remove_file(self.specification(id)))?;
            gone(std::fs::remove_file(self.lock(id)))?;
            self.remove_reports(id)?;
        }
        for folder in folders_of(contents) {
            gone(std::fs::remove_file(self.manifest(folder.id())))?;
        }
        Ok(())
    }

    /// Removes the reports on a job's run.
    pub fn remove_reports(&self, job: &Id) -> io::Result<()> {
        let reports = ReportForm::ALL.map(|form| self.report(job, form));
        let mut files = reports.into_iter().chain([self.names(job)]);
        files.try_for_each(|file| gone(std::fs::remove_file(file)))
    }

    fn uploads(&self) -> PathBuf {
        self.root.join(UPLOADS)
    }

    /// Makes a file for something that is being received, whose name begins with `prefix`. The file
    /// is deleted when dropped.
    pub fn temporary(&self, prefix: &str) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).tempfile_in(self.uploads())
    }
}

/// Turns the error that a file to be removed does not exist into success.
pub fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The number of bytes of a file, 0 if it does not exist.
fn gone_is_empty(about: io::Result<std::fs::Metadata>) -> io::Result<u64> {
    match about {
        Ok(about) => Ok(about.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// The number of bytes of all files under `folder`. What vanishes meanwhile does not count.
pub fn size(folder: &Path) -> io::Result<u64> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let entries = match std::fs::read_dir(folder) {
        Err(error) if is_gone(&error) => return Ok(0),
        other => other?,
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        bytes += match entry.metadata() {
            Err(error) if is_gone(&error) => 0,
            Err(error) => return Err(error),
            Ok(about) if about.is_dir() => size(&entry.path())?,
            Ok(about) => about.len(),
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_knows_of_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::create(folder.path()).unwrap();
        let ids = ["0123456789abcdef", "fedcba9876543210"].map(|id| id.parse::<Id>().unwrap());
        for id in &ids {
            std::fs::create_dir(places.data(id)).unwrap();
            std::fs::write(places.data_file(id, FileForm::Csv), "a").unwrap();
            std::fs::write(places.report(id, ReportForm::AiAct), "a").unwrap();
            std::fs::write(places.specification(id), "a").unwrap();
            std::fs::write(places.manifest(id), "a").unwrap();
        }
        places.temporary("upload-").unwrap().keep().unwrap();
        places.sweep(&HashSet::from([ids[0].clone()])).unwrap();
        let lies = |id: &Id| {
            let files = [
                places.data(id),
                places.report(id, ReportForm::AiAct),
                places.specification(id),
                places.manifest(id),
            ];
            files.map(|file| file.exists())
        };
        assert_eq!(lies(&ids[0]), [true; 4]);
        assert_eq!(lies(&ids[1]), [false; 4]);
        assert_eq!(size(&places.uploads()).unwrap(), 0);
    }

    #[test]
    fn folders_are_called_as_they_lie() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::create(folder.path()).unwrap();
        let id: Id = "0123456789abcdef".parse().unwrap();
        for kind in Folder::KINDS {
            let folder = Folder::of(kind, id.clone()).unwrap();
            assert_eq!(folder.name(), format!("{kind}/{id}"));
            assert_eq!(Folder::named(&folder.name()), Some(folder.clone()));
            assert_eq!(places.name_of(&places.path(&folder)), folder.name());
        }
        assert_eq!(Folder::of("reports", id.clone()), None);
        assert_eq!(Folder::named("runs/../data"), None);
        let contents = Contents {
            models: vec![id.clone()],
            ..Contents::of_job(&id)
        };
        assert_eq!(folders_of(&contents), [Folder::Run(id)]);
    }

    #[test]
    fn messages_lose_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::create(folder.path()).unwrap();
        let id: Id = "0123456789abcdef".parse().unwrap();
        let file = places.data_file(&id, FileForm::CsvGz);
        let run = places.run(&id);
        let text = format!(
            "{}, line 3, column 'a/b': 'x'; see {}: {}",
            file.display(),
            places.schema(&id).display(),
            run.display()
        );
        assert_eq!(
            places.without_paths(&text),
            "data.csv.gz, line 3, column 'a/b': 'x'; see schema.toml: the run"
        );
        assert_eq!(places.without_paths("no path"), "no path");
        let text = format!("{}: no", places.seen_from_run(&file).display());
        assert_eq!(places.without_paths(&text), "data.csv.gz: no");
        assert_eq!(places.relative(&text), format!("data/{id}/data.csv.gz: no"));
        assert_eq!(places.file_called(&places.name_of(&file)), Some(file));
        for path in [
            "data/../data.csv",
            "data/0123456789abcdef/..",
            "data/0123456789abcdef/a/b",
            "locks/0123456789abcdef/a",
            "/data/0123456789abcdef",
            "data/0123456789abcdef/",
            "data/0123456789abcdef/.probity.lock",
        ] {
            assert_eq!(places.file_called(path), None, "{path}");
        }
        let command = format!(
            "--model {} --seed 1",
            places.root().join("models/x").display()
        );
        assert_eq!(places.relative(&command), "--model models/x --seed 1");
    }
}
