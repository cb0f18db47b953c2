// Trainings of the scaling checks. The model is compiled once, in trainings.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <bahdanau/text/corpus.hpp>
#include <bahdanau/train/report.hpp>

namespace benchmark {

namespace bd = bahdanau;

/// A model, and a batch of 64 random sentences of full length.
struct Setting {
  std::size_t embed = 256, hidden = 256, vocabulary = 8000, source = 25, target = 25, layers = 2, threads = 0;
};

/// Milliseconds of one training batch for each of the settings: the fastest of some, taken in turns. What
/// else the machine does only adds, and would be most of a difference of two medians.
std::vector<double> milliseconds_a_batch(const std::vector<Setting>& settings, std::size_t rounds);

/// `epochs` of the Trainer over a corpus, with a d2l-sized model; `after` is called after each epoch.
std::vector<bd::EpochReport> epochs_over(
    const bd::Corpus& corpus, std::size_t epochs, const std::function<void()>& after = [] {});

/// Prints a verdict; false if the limit is missed.
bool verdict(const char* what, double value, const char* relation, double limit);

// The checks, each in a file of its own; false if one fails.
bool check_pairs(const char* pairs);
bool check_layers();
bool check_lengths();
bool check_threads();
bool check_memory(const char* pairs);

}  // namespace benchmark
