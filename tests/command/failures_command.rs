//! What ends a command by its fault and what by that of the machine: every kind of run, an option, a
//! table and a model that are wrong, and a predictor or a device that is not there.

use probity::run::runner::RunKind;
use probity::run_kinds;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;

const MODEL: &str = "model = 'demo/model'\n";
const PEOPLE: &str = "data = 'demo/people.csv'\n";
const NO_MODEL: &str = "model = 'none'\n";
const NO_PEOPLE: &str = "data = 'none.csv'\n";

/// Refuses a specification of the kind `K` with a field that it does not have.
fn has_no_such_field<K: RunKind>(workspace: &Workspace) {
    let body = format!("kind = '{}'\nnothing = 1", K::KIND);
    workspace.write("spec.toml", body);
    refuses(
        workspace,
        "run spec.toml --out out",
        2,
        &["nothing is unknown"],
    );
}

macro_rules! check_all {
    ($($kind:ty,)*) => {
        #[test]
        fn a_field_that_a_kind_does_not_have_is_a_fault_of_whoever_asks() {
            let workspace = Workspace::new();
            $(has_no_such_field::<$kind>(&workspace);)*
        }
    };
}

run_kinds!(check_all);

#[test]
fn kinds_tell_faults_of_their_files_from_those_of_the_machine() {
    let workspace = Workspace::with_demo(500);
    let ends = |body: &str, more: &str, code: i32, needle: &str| {
        workspace.write("spec.toml", body);
        let line = format!("run spec.toml --out out{more}");
        refuses(&workspace, &line, code, &[needle]);
    };
    for (kind, rest) in [
        ("audit", ""),
        ("compare", ""),
        ("groups", ""),
        ("certify", ""),
        ("repair", "runs = ['demo/audit']\n"),
    ] {
        let of = |model: &str, data: &str| format!("kind = '{kind}'\n{model}{data}{rest}");
        ends(&of(MODEL, NO_PEOPLE), "", 2, "none.csv");
        ends(&of(NO_MODEL, PEOPLE), "", 2, "model.toml");
    }
    for kind in ["audit", "compare", "groups"] {
        let of = |source: &str| {
            format!(
                "kind = '{kind}'\n{PEOPLE}[predictor]\nschema = 'synthetic-census'\nsource = '{source}'"
            )
        };
        ends(&of("nothing"), "", 2, "nothing");
        ends(&of("onnx:none.onnx"), "", 2, "none.onnx");
        ends(&of("command:false"), "", 3, "the predictor ended");
    }
    ends("kind = 'prove'\nmodel = 'none'", "", 2, "model.toml");
    let train = format!("kind = 'train'\nschema = 'synthetic-census'\n{PEOPLE}");
    ends(
        &(train.clone() + "[training]\nepochs = 0"),
        "",
        2,
        "training.epochs",
    );
    ends(&train.replace("people", "none"), "", 2, "none.csv");
    if cfg!(not(feature = "cuda")) {
        let repair = format!("kind = 'repair'\n{MODEL}{PEOPLE}runs = ['demo/audit']");
        let audit = format!("kind = 'audit'\n{MODEL}{PEOPLE}");
        for body in [train, repair, audit] {
            ends(&body, " --device cuda", 3, "'cuda'");
        }
    }
}
