// POST /predict and /embed, in our own format and in Label Studio's.
#pragma once

#include <string>
#include <string_view>

#include "server/http/router.h"
#include "server/predict/service.h"

namespace annulus::server {

// /predict, /embed, /health, /setup, /webhook.
void add_predict_routes(Service& service, Router& router);

// Names of the tags in a labelling configuration of Label Studio: what choices are called, and of what.
struct LabelTags {
  std::string from_name = "choice";
  std::string to_name = "image";
};
LabelTags label_tags_of(std::string_view label_config);

}  // namespace annulus::server
