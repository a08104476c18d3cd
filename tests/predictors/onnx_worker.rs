//! Graphs are computed in processes of their own, which may take so much time and memory.
//!
//! The files are in hexadecimal digits as the `onnx` package writes them: input x `[n, 2]`, output
//! y `[n, 2]`, opset 17.

use std::path::{Path, PathBuf};

use crate::probity_command::{Workspace, binary};
use probity::run::program::Program;
use probity::tensor::onnx::worker::{Limits, compute_in};
use probity::tensor::onnx::{Numbers, OnnxFile, OnnxModel, Tensor};

/// y = softmax(x · w).
const SOUND: &str = "080812003a6a0a110a01780a017712017a22064d61744d756c0a0f0a017a1201792207536f66746d6178120167\
     2a1b0802080210014201774a100000003f000080be000080bf000000405a110a0178120c0a0a080112060a000a\
     02080262110a0179120c0a0a080112060a000a02080242040a001011";

/// y = x + the largest of 200,000 × 200,000 zeros, 149 GiB.
const LARGE: &str = "080812003a91010a170a0173120163220f436f6e7374616e744f6653686170650a220a016312016d2209526564\
     7563654d61782a0f0a086b65657064696d731800a001020a0e0a01780a016d12017922034164641201672a1908\
     0210074201734a10400d030000000000400d0300000000005a110a0178120c0a0a080112060a000a0208026211\
     0a0179120c0a0a080112060a000a02080242040a001011";

fn bytes(digits: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

fn open(folder: &Path, name: &str, digits: &str) -> OnnxModel {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, bytes(digits)).unwrap();
    OnnxFile::read(&path).unwrap().model("y").unwrap()
}

fn rows() -> Vec<Tensor> {
    let values = (0..128)
        .map(|number| (number as f32 - 60.0) / 7.0)
        .collect();
    vec![Tensor {
        shape: vec![64, 2],
        values: Numbers::Floats(values),
    }]
}

/// One test, because who computes graphs is said once for a process.
#[test]
fn workers_give_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let here = open(folder.path(), "sound.onnx", SOUND);
    let worker = Program::new(binary()).arg("onnx-worker");
    compute_in(worker, Limits::default());
    let there = open(folder.path(), "sound.onnx", SOUND);
    assert_eq!(here.inputs(), there.inputs());
    let expected = here.run(rows()).unwrap();
    assert_eq!(expected.0, [64, 2]);
    // Side by side, and again: each run has a worker for itself, of which some are there already.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(there.run(rows()).unwrap(), expected);
                }
            });
        }
    });
    // What the graph refuses, it refuses; its worker goes on.
    let narrow = Tensor {
        shape: vec![64, 1],
        values: Numbers::Floats(vec![0.0; 64]),
    };
    let refused = there.run(vec![narrow]).unwrap_err().to_string();
    assert!(
        refused.contains("failed on inputs of shape [64, 1]"),
        "{refused}"
    );
    assert_eq!(there.run(rows()).unwrap(), expected);
}

#[test]
fn a_graph_that_takes_all_memory_is_refused() {
    let workspace = Workspace::new();
    workspace.write("large.onnx", bytes(LARGE));
    let attribute =
        |name| format!("[[attribute]]\nname = \"{name}\"\nkind = \"integer\"\nmin = 0\nmax = 9\n");
    let label = "name = \"two\"\n[label]\nname = \"class\"\nclasses = [\"no\", \"yes\"]\n";
    workspace.write(
        "two.toml",
        [label, &attribute("a"), &attribute("b")].concat(),
    );
    workspace.write("two.csv", "a,b,class\n1,2,no\n3,4,yes\n");
    workspace
        .line("audit --predictor onnx:large.onnx --schema two.toml --data two.csv --protected a --seeds 2 --out run")
        .exits(2)
        .complains(&["large.onnx", "given up", "GiB"]);
}
