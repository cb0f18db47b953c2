# Gives bahdanau::sentencepiece, for our own build and for the installed package (component `sentencepiece`) alike: the
# headers and libraries of SentencePiece. When they are missing, bahdanau_missing_sentencepiece is a sentence that says
# so, and there is no target.

set(bahdanau_missing_sentencepiece "")
find_path(BAHDANAU_SENTENCEPIECE_INCLUDE_DIR sentencepiece_processor.h)
find_library(BAHDANAU_SENTENCEPIECE_LIBRARY sentencepiece)
find_library(BAHDANAU_SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train)
mark_as_advanced(BAHDANAU_SENTENCEPIECE_INCLUDE_DIR BAHDANAU_SENTENCEPIECE_LIBRARY
                 BAHDANAU_SENTENCEPIECE_TRAIN_LIBRARY)

if(NOT BAHDANAU_SENTENCEPIECE_INCLUDE_DIR OR NOT BAHDANAU_SENTENCEPIECE_LIBRARY OR
   NOT BAHDANAU_SENTENCEPIECE_TRAIN_LIBRARY)
  set(bahdanau_missing_sentencepiece "bahdanau::sentencepiece needs SentencePiece: install the Debian package \
libsentencepiece-dev or the Conan package sentencepiece.")
elseif(NOT TARGET bahdanau::sentencepiece)
  # Not an imported one: a project that has bahdanau as a folder must see it.
  add_library(bahdanau_sentencepiece INTERFACE)
  add_library(bahdanau::sentencepiece ALIAS bahdanau_sentencepiece)
  target_include_directories(bahdanau_sentencepiece SYSTEM INTERFACE "${BAHDANAU_SENTENCEPIECE_INCLUDE_DIR}")
  target_link_libraries(bahdanau_sentencepiece INTERFACE
    bahdanau::bahdanau "${BAHDANAU_SENTENCEPIECE_TRAIN_LIBRARY}" "${BAHDANAU_SENTENCEPIECE_LIBRARY}")
endif()
