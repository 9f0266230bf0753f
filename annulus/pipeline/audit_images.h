// A folder of images as the input of an audit: features, and properties of each image.
#pragma once

#include <string>
#include <vector>

#include "annulus/base/progress.h"
#include "annulus/eval/audit/audit.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/pipeline/extract.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/task/feature_set.h"

namespace annulus {

struct AuditImages {
  FeatureSet set;
  std::vector<std::string> warnings;  // one sentence each: what was skipped and why
  ExtractReport extraction;
};

// Encodes and inspects the images of `folder`, as `list_options` chooses them, on audit.threads threads, and fills
// in the image properties of `audit`. Throws Error{kInput} if the images have no labels.
AuditImages load_audit_images(const std::string& folder, const ImageListOptions& list_options,
                              const EncoderOptions& encoder_options, AuditOptions& audit,
                              const ProgressCallback& progress);

}  // namespace annulus
