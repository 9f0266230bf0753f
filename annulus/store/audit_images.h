// A folder of images as an audit sees it: features, and what is known of each image besides.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/audit.h"
#include "annulus/store/encoder.h"
#include "annulus/store/extract.h"
#include "annulus/task/feature_set.h"

namespace annulus {

struct AuditImages {
  FeatureSet set;
  std::vector<std::string> warnings;  // a sentence each: what of the folder was passed over and why
  ExtractReport extraction;
};

// Encodes and inspects the images of `folder` (of `list_file` where it is not empty) on audit.threads threads, and
// fills in the facts of `audit`. Throws Error{kInput} where the images carry no labels.
AuditImages load_audit_images(const std::string& folder, const std::filesystem::path& list_file,
                              const EncoderOptions& encoder_options, AuditOptions& audit,
                              const ProgressCallback& progress);

}  // namespace annulus
