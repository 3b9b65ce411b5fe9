; Code is reviewed by whoever knows.
(defatom review-security
  (description "Look for injections, leaked secrets and missing checks in code")
  (params (code string) (language string default: "python"))
  (instructions "Security of this {{language}}: {{code}}"))
(defatom review-style
  (description "Look for bad names, dead code and unclear structure")
  (params (code string))
  (instructions "Style: {{code}}"))
(defatom review-speed
  (description "Look for slow loops and needless work in code")
  (params (code string) (calls-per-second number))
  (instructions "Speed at {{calls-per-second}}: {{code}}"))
(defatom reviewer
  (system "You are the lead of a review. Ask the one reviewer who fits, then report.")
  (params code worry)
  (instructions "The author worries: {{worry}}\n\n{{code}}")
  (allowed_tools spawn_subtask))
(reviewer "db.execute('select * from users where name = ' + name)"
          "Could somebody who chooses the name read other rows than his own?")
