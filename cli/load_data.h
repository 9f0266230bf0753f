// The options that say which features a subcommand works on, and how they reach pipeline/load.h.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "annulus/learn/baselines/base_classes.h"
#include "annulus/pipeline/load.h"
#include "annulus/task/feature_set.h"
#include "cli/encoder.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {

struct DataOptions {
  std::string path;    // a feature file in any format the store knows, an image, or a folder of images
  std::string labels;  // labels kept in a file of their own; empty: they are in the data, or there are none
  EncoderOptions encoder;
  std::string list{};     // k-shot list that picks from a folder of images; empty: all of them
  bool verify = true;     // the checksum of a feature file
  BoxOptions boxes{};     // boxes in photos, each an example
  FrameOptions frames{};  // frames of videos, each an example
  bool nested = false;    // folders in class folders are classes, named by their path
};

// --labels and --no-verify.
void add_labels(CLI::App& command, DataOptions& options);
// --list of extract and fit.
void add_list(CLI::App& command, std::string& list);

// --boxes, --box-confidence and --crop-margin of the subcommands that take photos.
void add_boxes(CLI::App& command, BoxOptions& boxes, EncoderOptions& encoder);
// --every and --scenes.
void add_frames(CLI::App& command, FrameOptions& frames);

// Notes of the library, shown above the bar, also when the command is quiet.
NoteCallback notes_of(ProgressBar& bar);

// What the library is to do with options.path; progress and notes go to the bar. Processes of one launcher begin at
// different images.
LoadOptions load_options(const DataOptions& options, int threads, ProgressBar& bar);

// Reads features, or computes those of images (kept in the cache), which then have to be labelled.
FeatureSet load_data(const DataOptions& options, int threads, ProgressBar& bar);

// --base of the protocols.
void add_base(CLI::App& command, std::string& path);
// The base classes at `path`, a feature file or a folder of images; none where it is empty.
std::optional<BaseClasses> load_base(const std::string& path, const EncoderOptions& encoder, int threads,
                                     ProgressBar& bar);

}  // namespace annulus::cli
