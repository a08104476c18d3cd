//! k-NN, k-means, sum-product networks and outliers.

#[path = "../probity_command/mod.rs"]
mod probity_command;

mod kmeans_command;
mod kmeans_exactness;
mod knn_command;
mod knn_soundness;
mod outliers_privacy;
mod spn_command;
