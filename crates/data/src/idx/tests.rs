use super::*;

fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    file
}

fn images(count: u32, side: u32, values: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 3];
    for size in [count, side, side] {
        bytes.extend(size.to_be_bytes());
    }
    bytes.extend(values);
    bytes
}

#[test]
fn the_central_blocks_are_averaged() {
    // 5 x 5 pixels: blocks of 2 around the centre leave the last row and column out.
    let values: Vec<u8> = (0..25).collect();
    let file = written(&images(1, 5, &values));
    let idx = read_idx(file.path()).unwrap().value;
    let reduction = |crop| Some(Reduction { block: 2, crop });
    let all = idx.clone().into_images(file.path(), reduction(None));
    assert_eq!(all.unwrap().features, [3.0, 5.0, 13.0, 15.0]);
    let one = idx.clone().into_images(file.path(), reduction(Some(1)));
    assert_eq!(one.unwrap().features, [9.0]);
    assert!(idx.into_images(file.path(), reduction(Some(3))).is_err());
}

#[test]
fn broken_files_are_told_apart() {
    let read = |bytes: &[u8]| read_idx(written(bytes).path());
    let truncated = read(&images(2, 2, &[1, 2, 3, 4, 5])).unwrap_err();
    assert!(matches!(
        truncated,
        IdxError::Truncated {
            expected: 8,
            found: 5,
            ..
        }
    ));
    let trailing = read(&images(1, 2, &[1, 2, 3, 4, 5])).unwrap_err();
    assert!(matches!(trailing, IdxError::Trailing { .. }));
    let huge = read(&images(u32::MAX, u32::MAX, &[])).unwrap_err();
    assert!(matches!(huge, IdxError::TooLarge { .. }));
    // Two billion values promised, none there: refused without the memory for them.
    let empty = read(&images(1 << 29, 2, &[])).unwrap_err();
    assert!(matches!(empty, IdxError::Truncated { found: 0, .. }));
    assert!(matches!(
        read(&[0, 0, 9, 1]).unwrap_err(),
        IdxError::Type { .. }
    ));
    assert!(matches!(
        read(b"a,b\n1,2\n").unwrap_err(),
        IdxError::Foreign { .. }
    ));
}

#[test]
fn a_header_of_no_images_takes_no_time_for_their_pixels() {
    let none = Idx {
        dimensions: vec![0, 1 << 25, 1 << 26],
        values: Vec::new(),
    };
    let images = none.into_images(Path::new("images"), None).unwrap();
    assert_eq!((images.count, images.columns.len()), (0, 0));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("images");
    let header = [0, 0, 8, 3, 0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0];
    std::fs::write(&file, header).unwrap();
    let options = crate::numbers::NumbersOptions::default();
    let read = crate::numbers::Numbers::unscaled(file.as_path(), &options, None);
    let error = read.unwrap_err().to_string();
    assert!(error.contains("images"), "{error}");
}
