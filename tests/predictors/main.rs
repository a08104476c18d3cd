//! Predictors: processes, Python, ONNX.

#[path = "../probity_command/mod.rs"]
mod probity_command;

mod onnx_worker;
mod predictor_exports;
mod predictor_onnx;
mod predictor_python;
mod text_predictor;
mod text_predictor_onnx;
