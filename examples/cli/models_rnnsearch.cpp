// The model of the paper `rnnsearch`.
#include <memory>

#include "model_of.hpp"

namespace cli {

template std::unique_ptr<AnyModel> model_of_paper<RnnSearch>(const Origin&);

}  // namespace cli
