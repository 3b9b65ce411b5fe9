; Tasks of a template file.
(import "kitchen.xml")
(chef "Two people, one of whom must not eat nuts, have a pumpkin and rice. What shall they cook?")
