; The clock of the host, as a date.

; The day of now, as ISO text, in a zone.
(define (today (zone "UTC")) (iso-date (now) zone))
