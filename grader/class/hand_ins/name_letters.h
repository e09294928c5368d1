// Texts that stand for names when names are compared.
#pragma once

#include <string>

namespace roofwalk {

// The text in small letters, for all alphabets. Invalid UTF-8 is unchanged.
std::string small_letters(const std::string& text);

// An address in small letters. Only A to Z have one: a letter of another alphabet whose small letter is Latin, such as
// the Kelvin sign, makes another address.
std::string small_address(const std::string& address);

// A name's letters and digits in small letters, Latin ones without accents, so that different spellings give the same
// text.
std::string name_letters(const std::string& name);

// The same, with the Latin letters that Greek, Cyrillic and full-width ones look like, so that names that a reader
// takes for one another give the same text. Different people's names may give the same text, too.
std::string look_of_letters(const std::string& name);

}  // namespace roofwalk
