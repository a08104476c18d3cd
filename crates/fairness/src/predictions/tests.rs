//! Columns and figures against their definitions.

use super::*;

fn predictions() -> Predictions {
    Predictions {
        model_sha256: String::new(),
        data_sha256: String::new(),
        data: None,
        rows: [2, 5].into_iter().collect(),
        is_number: false,
        classes: vec!["fine".into(), "toxic".into()],
        texts: Some(vec!["Hello, you.".into(), "Go\naway!".into()]),
        logits: vec![0.0, 0.0, -60.0, 60.0],
        decisions: vec!["fine".into(), "toxic".into()],
        decided: vec![0, 1],
        rounded: None,
        remarks: Vec::new(),
    }
}

#[test]
fn every_input_has_its_class_probabilities_and_logits() {
    let predictions = predictions();
    assert_eq!(
        (predictions.inputs(), predictions.counts()),
        (2, vec![1, 1])
    );
    let batch = predictions.batch().unwrap();
    let mut out = csv::Writer::from_writer(Vec::new());
    write_csv(&batch, &mut out).unwrap();
    let out = out.into_inner().unwrap();
    let mut rows = csv::Reader::from_reader(out.as_slice());
    let names = "row text predicted probability_fine probability_toxic logit_fine logit_toxic";
    assert_eq!(
        rows.headers().unwrap(),
        names.split(' ').collect::<Vec<_>>()
    );
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    assert_eq!(
        &rows[0],
        &["2", "Hello, you.", "fine", "0.5", "0.5", "0", "0"][..]
    );
    assert_eq!(
        (&rows[1][0], &rows[1][1], &rows[1][2], &rows[1][6]),
        ("5", "Go\naway!", "toxic", "60")
    );
    // Small, and not 0.
    let fine: f64 = rows[1][3].parse().unwrap();
    assert!((fine.ln() + 120.0).abs() < 1e-9, "{fine}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.parquet");
    let mut out = std::fs::File::create(&file).unwrap();
    write_parquet(&batch, &mut out).unwrap();
    let read = std::fs::File::open(&file).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(read, 10);
    let read: Vec<RecordBatch> = reader.unwrap().map(Result::unwrap).collect();
    assert_eq!(read, [batch]);
}

#[test]
fn losses_are_computed_from_logits() {
    let judged = Judged {
        targets: Vec::new(),
        logits: vec![0.0, 3.0_f32.ln(), 0.0, 200.0],
        decided: vec![1, 1],
        labels: vec![1, 0],
        classes: vec!["a".into(), "b".into()],
    };
    // Probabilities 3/4 of its own class, and e^-200.
    let loss = judged.log_loss().mean;
    assert!(
        (loss - ((4.0_f64 / 3.0).ln() + 200.0) / 2.0).abs() < 1e-6,
        "{loss}"
    );
    let brier = judged.brier_score().mean;
    assert!((brier - (2.0 / 16.0 + 2.0) / 2.0).abs() < 1e-6, "{brier}");
    let classes = judged.by_class(2);
    assert_eq!((classes[0].class.as_str(), classes[0].inputs), ("a", 1));
    // Of b, both probabilities lie in the upper bin: (3/4 + 1) against one of two.
    assert!((classes[1].calibration_error - 0.375).abs() < 1e-6);
    assert!(classes[1].ci95[0] <= 0.375 && 0.375 <= classes[1].ci95[1]);
}
