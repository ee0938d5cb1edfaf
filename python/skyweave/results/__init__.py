"""A results folder, how its runs are labelled and chosen, and what can be measured of them."""
