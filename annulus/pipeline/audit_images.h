// A folder of images as the input of an audit: features, and properties of each image.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/audit/audit.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/pipeline/extract.h"
#include "annulus/task/feature_set.h"

namespace annulus {

struct AuditImages {
  FeatureSet set;
  std::vector<std::string> warnings;  // one sentence each: what was skipped and why
  ExtractReport extraction;
};

// Encodes and inspects the images of `folder` (of `list_file` if it is not empty) on audit.threads threads, and fills
// in the image properties of `audit`. Throws Error{kInput} if the images have no labels.
AuditImages load_audit_images(const std::string& folder, const std::filesystem::path& list_file,
                              const EncoderOptions& encoder_options, AuditOptions& audit,
                              const ProgressCallback& progress);

}  // namespace annulus
